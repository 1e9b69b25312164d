// SPDX-License-Identifier: MIT
//
// The masks of attention, and triangles. In PyTorch a bool mask means "masked" in one interface and
// "takes part" in the next; here each meaning is a type of its own, and a bare Tensor<bool> is not
// a mask.
#pragma once

#include "tinyattn/kernel/mask.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn {

// Every query attends to every key.
struct NoMask {};

// Query i attends to keys 0 .. i.
struct Causal {};

// Query i attends to keys 0 .. i + (source tokens - tokens), so that the last query attends to all
// keys.
struct CausalBottomRight {};

namespace detail {

// A mask that is deduced of anything but its tensor: the constructor does not compile.
struct NoMaskOfThis {
  constexpr NoMaskOfThis(const auto& m) noexcept {  // NOLINT(google-explicit-constructor)
    static_assert(no_such_call<decltype(m)>,
                  "a BlockMask or a KeepMask is made of a Tensor<bool>, true = masked or true = "
                  "takes part; an AdditiveMask is made of a Tensor<float>");
  }
};

}  // namespace detail

// The tensor of each mask below is [tokens, source tokens], or [source tokens], one row for all
// queries. Layers and blocks also take [num_heads, tokens, source tokens], a mask for each head,
// and layers [batch * num_heads, tokens, source tokens]; the training of a layer,
// scaled_dot_product_attention and compiled::forward do not.

// true = masked: attn_mask and key_padding_mask of torch.nn.MultiheadAttention.
template <std::size_t... Extents>
struct BlockMask {
  Tensor<bool, Extents...> tensor;  // of one of these shapes
};
template <std::size_t... Extents>
BlockMask(Tensor<bool, Extents...>) -> BlockMask<Extents...>;
template <class Other>
BlockMask(Other) -> BlockMask<>;
// Deduced for any other argument, which it diagnoses.
template <>
struct BlockMask<> : detail::NoMaskOfThis {
  using NoMaskOfThis::NoMaskOfThis;
};

// true = takes part: attn_mask of torch.nn.functional.scaled_dot_product_attention.
template <std::size_t... Extents>
struct KeepMask {
  Tensor<bool, Extents...> tensor;  // of one of these shapes
};
template <std::size_t... Extents>
KeepMask(Tensor<bool, Extents...>) -> KeepMask<Extents...>;
template <class Other>
KeepMask(Other) -> KeepMask<>;
// Deduced for any other argument, which it diagnoses.
template <>
struct KeepMask<> : detail::NoMaskOfThis {
  using NoMaskOfThis::NoMaskOfThis;
};

// Each element is added to its scaled score; -infinity = masked.
template <std::size_t... Extents>
struct AdditiveMask {
  Tensor<float, Extents...> tensor;  // of one of these shapes
};
template <std::size_t... Extents>
AdditiveMask(Tensor<float, Extents...>) -> AdditiveMask<Extents...>;
template <class Other>
AdditiveMask(Other) -> AdditiveMask<>;
// Deduced for any other argument, which it diagnoses.
template <>
struct AdditiveMask<> : detail::NoMaskOfThis {
  using NoMaskOfThis::NoMaskOfThis;
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Copies the elements of m that keep(row, column) selects, and zeros instead of the others.
template <class TensorM>
constexpr auto keep_where(const TensorM& m, auto keep, auto&... out) noexcept {
  using LayoutM = LayoutOf<TensorM>;
  return into<Like<TensorM>>(
      [&]<class Out>(Out& to) {
        if constexpr (check_copy<Out, TensorM>()) {
          static_assert(same_shape<TensorM, Out>, "out must have the shape of m");
          for (std::size_t i = 0; i < LayoutM::batch * LayoutM::rows; ++i)
            for (std::size_t j = 0; j < LayoutM::cols; ++j)
              to.data()[i * LayoutOf<Out>::stride + j] = keep(i % LayoutM::rows, j)
                                                             ? m.data()[i * LayoutM::stride + j]
                                                             : typename TensorM::value_type{};
        }
      },
      out...);
}

// Whether A has no gaps between its rows, and its extents are the last extents of M.
template <class TensorA, class TensorM>
inline constexpr bool is_tail = [] {
  bool same =
      TensorA::rank <= TensorM::rank && LayoutOf<TensorA>::stride == LayoutOf<TensorA>::cols;
  for (std::size_t k = 1; same && k <= TensorA::rank; ++k)
    same = TensorA::extent(TensorA::rank - k) == TensorM::extent(TensorM::rank - k);
  return same;
}();

constexpr std::ptrdiff_t diagonal_of(std::size_t i, std::size_t j) noexcept {
  return static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i);
}

}  // namespace detail

// Copies m [..., rows, cols] to `out`, with zeros above the diagonal: elements with j - i <=
// diagonal stay. A diagonal outside the matrix keeps all elements or none. `out` may be m; by
// value, the result is on the stack.
template <tensor_like TensorM, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto tril(const TensorM& m, std::ptrdiff_t diagonal = 0, Out&... out) noexcept {
  return detail::keep_where(
      m, [=](std::size_t i, std::size_t j) { return detail::diagonal_of(i, j) <= diagonal; },
      out...);
}

TINYATTN_DIAGNOSTIC(
    tensor_like First, tril(const First&, detail::Anything, ...),
    "tril takes (m), (m, diagonal) or (m, diagonal, out): out is neither const nor a temporary")

// Copies m [..., rows, cols] to `out`, with zeros below the diagonal: elements with j - i >=
// diagonal stay. `out` may be m; by value, the result is on the stack.
template <tensor_like TensorM, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto triu(const TensorM& m, std::ptrdiff_t diagonal = 0, Out&... out) noexcept {
  return detail::keep_where(
      m, [=](std::size_t i, std::size_t j) { return detail::diagonal_of(i, j) >= diagonal; },
      out...);
}

TINYATTN_DIAGNOSTIC(
    tensor_like First, triu(const First&, detail::Anything, ...),
    "triu takes (m), (m, diagonal) or (m, diagonal, out): out is neither const nor a temporary")

// Copies m to `out`, with `value` where the mask is true. The extents of the mask are those of m,
// or the last of them. `out` may be m; by value, the result is on the stack.
template <class Element, std::size_t... Extents, tensor_like Mask, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto masked_fill(const Tensor<Element, Extents...>& m, const Mask& mask,
                           std::type_identity_t<Element> value, Out&... out) noexcept {
  using Filled = Tensor<Element, Extents...>;
  static_assert(std::is_same_v<typename Mask::value_type, bool>,
                "mask must be a Tensor<bool>, true = fill");
  static_assert(detail::is_tail<Mask, Filled>,
                "mask must have the shape of m, or of its last extents");
  return detail::into<Filled>(
      [&]<class To>(To& to) {
        if constexpr (detail::check_copy<To, Filled>()) {
          static_assert(detail::same_shape<To, Filled> && !detail::has_gaps<To>,
                        "out must have the shape of m");
          for (std::size_t i = 0; i < m.size(); ++i)
            to.data()[i] = mask.data()[i % mask.size()] ? value : m.elements[i];
        }
      },
      out...);
}

TINYATTN_DIAGNOSTIC(tensor_like First, masked_fill(const First&, ...),
                    "masked_fill takes (m, mask, value) or (m, mask, value, out): tensors, no "
                    "views; out is neither const nor a temporary")

// Returns the additive mask of causal attention: 0 for keys j <= i of query i, -infinity elsewhere.
template <std::size_t Tokens>
constexpr Matrix<float, Tokens, Tokens> causal_mask() noexcept {
  return masked_fill(zeros<float, Tokens, Tokens>(), triu(ones<bool, Tokens, Tokens>(), 1),
                     -kernel::infinity);
}

namespace detail {

// Each mask as kernels take it, for `tokens` queries and `keys` source tokens.
TINYATTN_ALWAYS_INLINE constexpr kernel::Mask kernel_mask(NoMask, std::size_t,
                                                          std::size_t keys) noexcept {
  return kernel::no_mask(keys);
}
TINYATTN_ALWAYS_INLINE constexpr kernel::Mask kernel_mask(Causal, std::size_t,
                                                          std::size_t keys) noexcept {
  return {keys, 0};
}
TINYATTN_ALWAYS_INLINE constexpr kernel::Mask kernel_mask(CausalBottomRight, std::size_t tokens,
                                                          std::size_t keys) noexcept {
  return {keys, static_cast<std::ptrdiff_t>(keys) - static_cast<std::ptrdiff_t>(tokens)};
}
// All queries share a tensor of one row.
template <class TensorM>
inline constexpr std::size_t stride_of =
    LayoutOf<TensorM>::rank == 1 ? 0 : LayoutOf<TensorM>::stride;
// A tensor of three extents has a matrix for each head.
template <class TensorM>
TINYATTN_ALWAYS_INLINE constexpr auto of_heads(const TensorM&, const kernel::Mask& mask) noexcept {
  if constexpr (TensorM::rank == 3)
    return kernel::MaskOfHeads<>{mask, TensorM::extent(1) * TensorM::extent(2), TensorM::extent(0)};
  else
    return mask;
}
template <std::size_t Extent, std::size_t... More>
TINYATTN_ALWAYS_INLINE constexpr auto kernel_mask(const BlockMask<Extent, More...>& mask,
                                                  std::size_t, std::size_t keys) noexcept {
  const auto& m = mask.tensor;
  return of_heads(m, with_flags(kernel::no_mask(keys), m.data(), false, stride_of<decltype(m)>));
}
template <std::size_t Extent, std::size_t... More>
TINYATTN_ALWAYS_INLINE constexpr auto kernel_mask(const KeepMask<Extent, More...>& mask,
                                                  std::size_t, std::size_t keys) noexcept {
  const auto& m = mask.tensor;
  return of_heads(m, with_flags(kernel::no_mask(keys), m.data(), true, stride_of<decltype(m)>));
}
template <std::size_t Extent, std::size_t... More>
TINYATTN_ALWAYS_INLINE constexpr auto kernel_mask(const AdditiveMask<Extent, More...>& mask,
                                                  std::size_t, std::size_t keys) noexcept {
  const auto& m = mask.tensor;
  return of_heads(m, with_addends(kernel::no_mask(keys), m.data(), stride_of<decltype(m)>));
}

template <class Mask>
concept mask_type = requires(const Mask& mask) {
  kernel_mask(mask, std::size_t{}, std::size_t{});
};

// Whether a mask is one for so many tokens: any without a tensor, or [tokens, source tokens], or
// one row for all queries, or a mask for each of `Heads` heads, or for these in each element of a
// batch.
template <class Mask, std::size_t Tokens, std::size_t SourceTokens, std::size_t Heads,
          std::size_t Batch>
consteval bool mask_fits() noexcept {
  if constexpr (requires(const Mask& mask) { mask.tensor; }) {
    using Of = decltype(Mask::tensor);
    using Element = typename Of::value_type;
    return same_shape<Of, Matrix<Element, Tokens, SourceTokens>> ||
           same_shape<Of, Vector<Element, SourceTokens>> ||
           (Heads != 0 && same_shape<Of, Tensor<Element, Of::extent(0), Tokens, SourceTokens>> &&
            (Of::extent(0) == Heads || Of::extent(0) == Batch * Heads));
  }
  return true;
}

}  // namespace detail

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
