// SPDX-License-Identifier: MIT
//
// The affine layer: x . weight + bias.
#pragma once

#include "tinyattn/initialize.hpp"
#include "tinyattn/kernel/layer.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Stands where a member is absent, and takes no room. Each has its own type: two empty members of
// one type could not share an address.
template <class Absent>
struct Nothing {
  friend constexpr bool operator==(const Nothing&, const Nothing&) = default;
};

template <bool Present, class Member>
using Optional = std::conditional_t<Present, Member, Nothing<Member>>;

}  // namespace detail

// torch.nn.Linear. The weight is [In, Out], the transpose of PyTorch's: from_torch makes it. Row i
// holds what feature i of the input contributes to each output.
template <std::size_t In, std::size_t Out, bool Bias = true>
struct Linear {
  // Weights and biases together.
  static constexpr std::size_t parameter_count = detail::count_parameters<Linear>();

  Matrix<float, In, Out> weight{};  // the transpose of PyTorch's
  // Added to each row.
  [[no_unique_address]] detail::Optional<Bias, Vector<float, Out>> bias{};

  // out = x . weight + bias, with x [..., In] and out [..., Out], which may not overlap x. Each sum
  // starts at the bias.
  template <tensor_like TensorX, tensor_like TensorY>
  constexpr void forward(const TensorX& x, TensorY& out) const noexcept;

  template <class TensorX = detail::Anything>
  constexpr detail::Refused forward(const TensorX&, ...) const noexcept {
    static_assert(detail::no_such_call<TensorX>,
                  "forward takes (x, out): tensors or views of float; out is neither const nor a "
                  "temporary");
    return {};
  }

  // By value: the result stands on the stack.
  template <tensor_like TensorX>
  constexpr auto operator()(const TensorX& x) const noexcept {
    detail::WithCols<TensorX, Out> out;
    forward(x, out);
    return out;
  }
  constexpr detail::Refused operator()(const detail::no_tensor auto& x) const noexcept {
    return detail::refuse(x);
  }

  friend constexpr bool operator==(const Linear&, const Linear&) = default;

  // By name, for for_each_parameter and initialize.
  static constexpr auto members(auto& self, const auto& use) {
    return use(detail::names<"weight", "bias">, self.weight, self.bias);
  }
};

namespace kernel {

template <std::size_t In, std::size_t Out, bool HasBias>
TINYATTN_ALWAYS_INLINE constexpr Projection<> projection(
    const Linear<In, Out, HasBias>& linear) noexcept {
  if constexpr (HasBias)
    return {{linear.weight.data(), Out}, linear.bias.data()};
  else
    return {{linear.weight.data(), Out}, nullptr};
}

TINYATTN_ALWAYS_INLINE constexpr Projection<> projection(const auto&) noexcept {
  return {{nullptr, 0}, nullptr};
}

// What is wrong is said in a sentence; the rest of a call is then left out.
template <std::size_t In, std::size_t Out, class TensorX, class TensorY>
consteval bool check_linear() noexcept {
  constexpr bool floats = detail::holds_floats<TensorX>, writable = detail::is_writable<TensorY>,
                 fits_in = detail::LayoutOf<TensorX>::cols == In;
  constexpr bool fits_out = detail::same_shape<TensorY, detail::WithCols<TensorX, Out>>;
  static_assert(floats, "x must hold floats");
  static_assert(fits_in, "x must have d_in columns");
  static_assert(!floats || writable, "out must hold floats, and not be const");
  static_assert(!floats || !writable || fits_out,
                "out must have the rows of x and a column for each output");
  return floats && writable && fits_in && fits_out;
}

}  // namespace kernel

template <std::size_t In, std::size_t Out, bool Bias>
template <tensor_like TensorX, tensor_like TensorY>
constexpr void Linear<In, Out, Bias>::forward(const TensorX& x, TensorY& out) const noexcept {
  using LayoutX = detail::LayoutOf<TensorX>;
  if constexpr (kernel::check_linear<In, Out, TensorX, TensorY>())
    on_native_port([&](auto port) {
      for (std::size_t item = 0; item < LayoutX::batch; ++item)
        kernel::project<decltype(port)>(LayoutX::rows, In, Out, kernel::input(x, item),
                                        kernel::projection(*this), kernel::output(out, item));
    });
}

// A Linear from the layout of a PyTorch state_dict, weight [out features, in features]: the weight
// is transposed. By value: all its weights stand on the stack, unless it is a constant.
template <std::size_t Out, std::size_t In, std::size_t BiasSize>
constexpr Linear<In, Out, true> from_torch(const Matrix<float, Out, In>& weight_out_in,
                                           const Vector<float, BiasSize>& bias) noexcept {
  static_assert(BiasSize == Out, "bias must have one element for each row of weight");
  return {transpose(weight_out_in), bias};
}

template <std::size_t Out, std::size_t In>
constexpr Linear<In, Out, false> from_torch(const Matrix<float, Out, In>& weight_out_in) noexcept {
  return {transpose(weight_out_in), {}};
}

template <tensor_like TensorM>
requires(!detail::holds_floats<TensorM>) constexpr detail::Refused
    from_torch(const TensorM&, ...) noexcept {
  static_assert(detail::no_such_call<TensorM>,
                "from_torch takes (weight) or (weight, bias): a matrix and a vector of float");
  return {};
}

// Draws weight, then bias, as torch.nn.Linear does: uniform within 1 / sqrt(In), in the order of
// PyTorch's layout.
template <std::size_t In, std::size_t Out, bool Bias, random_generator Generator>
constexpr void initialize(Linear<In, Out, Bias>& linear, Generator& generator) noexcept {
  constexpr float bound = detail::inverse_sqrt<In>;
  auto weights = detail::words(generator);
  for (std::size_t o = 0; o < Out; ++o)
    for (std::size_t i = 0; i < In; ++i)
      linear.weight(i, o) = kernel::uniform_from(weights.next(), -bound, bound);
  if constexpr (Bias) {
    auto biases = detail::words(generator);
    for (float& element : linear.bias.elements)
      element = kernel::uniform_from(biases.next(), -bound, bound);
  }
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
