// SPDX-License-Identifier: MIT
//
// Shapes: tensors whose extents are part of their type, and views of their columns. A tensor owns its
// elements, in place and row-major; there is no heap and nothing to free, and a constexpr one lies in flash.
#pragma once

#include "tinyattn/port/native.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn {

namespace detail {

// Whether their product is a number of elements that an object may have: no more than PTRDIFF_MAX bytes.
consteval bool is_addressable(std::size_t element_size, std::initializer_list<std::size_t> extents) noexcept {
  std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / element_size;
  for (const std::size_t extent : extents) most = extent == 0 ? most : most / extent;
  return most != 0;
}

}  // namespace detail

template <class T, std::size_t... Extents>
struct Tensor {
  static_assert(sizeof...(Extents) != 0, "a tensor needs an extent");
  static_assert(((Extents != 0) && ...), "an extent must not be zero");
  static_assert(detail::is_addressable(sizeof(T), {Extents...}), "a tensor has more bytes than this target can address");

  using value_type = T;
  static constexpr std::size_t rank = sizeof...(Extents);
  static constexpr std::size_t element_count = (Extents * ...);

  T elements[element_count];

  // One index per extent, each below its extent; nothing is checked at run time.
  template <class... Index>
  constexpr T& operator()(Index... index) noexcept {
    return elements[offset(index...)];
  }
  template <class... Index>
  constexpr const T& operator()(Index... index) const noexcept {
    return elements[offset(index...)];
  }

  constexpr T* data() noexcept { return elements; }
  constexpr const T* data() const noexcept { return elements; }
  static constexpr std::size_t size() noexcept { return element_count; }
  static constexpr std::size_t extent(std::size_t axis) noexcept {
    constexpr std::size_t extents[rank] = {Extents...};
    return extents[axis];
  }

  friend constexpr bool operator==(const Tensor&, const Tensor&) = default;

 private:
  template <class... Index>
  static constexpr std::size_t offset(Index... index) noexcept {
    static_assert(sizeof...(Index) == rank, "a tensor takes one index for each of its extents");
    std::size_t position = 0;
    ((position = position * Extents + static_cast<std::size_t>(index)), ...);
    return position;
  }
};

template <class T, std::size_t Rows, std::size_t Cols>
using Matrix = Tensor<T, Rows, Cols>;
template <class T, std::size_t Size>
using Vector = Tensor<T, Size>;

// Some columns of a matrix, where they are: row i starts `Stride` elements behind row i - 1. A head of
// attention is such a view of the queries, keys and values.
template <class T, std::size_t Rows, std::size_t Cols, std::size_t Stride>
struct MatrixView {
  static_assert(Rows != 0 && Cols != 0, "an extent must not be zero");
  static_assert(detail::is_addressable(sizeof(T), {Rows, Stride}), "a view has more bytes than this target can address");

  using value_type = std::remove_const_t<T>;
  static constexpr std::size_t rank = 2;

  T* first;

  template <class I, class J>
  constexpr T& operator()(I i, J j) const noexcept {
    return first[static_cast<std::size_t>(i) * Stride + static_cast<std::size_t>(j)];
  }
  constexpr T* data() const noexcept { return first; }
  static constexpr std::size_t size() noexcept { return Rows * Cols; }
  static constexpr std::size_t extent(std::size_t axis) noexcept { return axis == 0 ? Rows : Cols; }
};

namespace detail {

// A tensor or view as a batch of matrices with rows `stride` apart; a vector is one row.
template <class M>
struct Layout;

template <class T, std::size_t... Extents>
struct Layout<Tensor<T, Extents...>> {
  static constexpr std::size_t extents[sizeof...(Extents)] = {Extents...};
  static constexpr std::size_t rank = sizeof...(Extents);
  static constexpr std::size_t cols = extents[rank - 1];
  static constexpr std::size_t rows = rank == 1 ? 1 : extents[rank == 1 ? 0 : rank - 2];
  static constexpr std::size_t batch = (Extents * ...) / (rows * cols);
  static constexpr std::size_t stride = cols;

  template <std::size_t Cols, std::size_t... I>
  static auto with_cols(std::index_sequence<I...>) -> Tensor<T, (I + 1 == rank ? Cols : Extents)...>;
  template <std::size_t... I>
  static auto leading(std::index_sequence<I...>) -> std::index_sequence<extents[I]...>;
  using batch_extents = decltype(leading(std::make_index_sequence<(rank > 2 ? rank - 2 : 0)>{}));
};

template <class T, std::size_t Rows, std::size_t Cols, std::size_t Stride>
struct Layout<MatrixView<T, Rows, Cols, Stride>> {
  static constexpr std::size_t rank = 2;
  static constexpr std::size_t cols = Cols;
  static constexpr std::size_t rows = Rows;
  static constexpr std::size_t batch = 1;
  static constexpr std::size_t stride = Stride;
  using batch_extents = std::index_sequence<>;

  template <std::size_t NewCols, std::size_t... I>
  static auto with_cols(std::index_sequence<I...>) -> Matrix<std::remove_const_t<T>, Rows, NewCols>;
};

template <class M>
using LayoutOf = Layout<std::remove_cvref_t<M>>;

// A tensor shaped like M but for its last extent.
template <class M, std::size_t Cols>
using WithCols = decltype(LayoutOf<M>::template with_cols<Cols>(std::make_index_sequence<LayoutOf<M>::rank>{}));

template <class M>
using Like = WithCols<M, LayoutOf<M>::cols>;

// The weights that queries shaped like M give: [..., num_heads, tokens, source tokens].
template <class M, std::size_t NumHeads, std::size_t SourceTokens, std::size_t... Batch>
auto with_heads(std::index_sequence<Batch...>) -> Tensor<float, Batch..., NumHeads, LayoutOf<M>::rows, SourceTokens>;
template <class M, std::size_t NumHeads, std::size_t SourceTokens>
using WithHeads = decltype(with_heads<M, NumHeads, SourceTokens>(typename LayoutOf<M>::batch_extents{}));

// The first element of matrix `item` of a batch.
template <class M>
constexpr auto item(M& m, std::size_t item) noexcept {
  return m.data() + item * LayoutOf<M>::rows * LayoutOf<M>::stride;
}

template <class A, class B>
inline constexpr bool same_shape = std::is_same_v<Like<A>, Like<B>>;
template <class A, class B>
inline constexpr bool same_batch = std::is_same_v<typename LayoutOf<A>::batch_extents, typename LayoutOf<B>::batch_extents>;
template <class M>
inline constexpr bool holds_floats = std::is_same_v<typename std::remove_cvref_t<M>::value_type, float>;

}  // namespace detail

template <class M>
concept tensor_like = requires {
  detail::LayoutOf<M>::rank;
};

// A matrix or vector from its elements; the shape is deduced: matrix<float>({{1, 2, 3}, {4, 5, 6}}) is 2 x 3.
template <class T, std::size_t Rows, std::size_t Cols>
constexpr Matrix<T, Rows, Cols> matrix(const T (&rows)[Rows][Cols]) noexcept {
  Matrix<T, Rows, Cols> out{};
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Cols; ++j) out(i, j) = rows[i][j];
  return out;
}

template <class T, std::size_t Size>
constexpr Vector<T, Size> vector(const T (&elements)[Size]) noexcept {
  Vector<T, Size> out{};
  for (std::size_t i = 0; i < Size; ++i) out(i) = elements[i];
  return out;
}

// A tensor of one value, of zeros, of ones: full<float, 6, 6>(0.5f).
template <class T, std::size_t... Extents>
constexpr Tensor<T, Extents...> full(T value) noexcept {
  Tensor<T, Extents...> out{};
  for (T& element : out.elements) element = value;
  return out;
}

template <class T, std::size_t... Extents>
constexpr Tensor<T, Extents...> zeros() noexcept {
  return {};
}

template <class T, std::size_t... Extents>
constexpr Tensor<T, Extents...> ones() noexcept {
  return full<T, Extents...>(T{1});
}

// Columns first .. first + Count - 1 of m, which must be there; not copied: lives no longer than m.
template <std::size_t Count, class T, std::size_t Rows, std::size_t Cols>
constexpr MatrixView<T, Rows, Count, Cols> columns(Matrix<T, Rows, Cols>& m, std::size_t first) noexcept {
  static_assert(Count <= Cols, "a view has no more columns than its matrix");
  return {m.data() + first};
}

template <std::size_t Count, class T, std::size_t Rows, std::size_t Cols>
constexpr MatrixView<const T, Rows, Count, Cols> columns(const Matrix<T, Rows, Cols>& m, std::size_t first) noexcept {
  static_assert(Count <= Cols, "a view has no more columns than its matrix");
  return {m.data() + first};
}

template <std::size_t Count, class T, std::size_t Rows, std::size_t Cols>
void columns(const Matrix<T, Rows, Cols>&&, std::size_t) = delete;  // the matrix would be gone

// Row i < rows of a matrix or view, copied.
template <tensor_like M>
constexpr auto row(const M& m, std::size_t i) noexcept {
  static_assert(detail::LayoutOf<M>::rank == 2, "row takes a matrix");
  Vector<typename M::value_type, detail::LayoutOf<M>::cols> out{};
  for (std::size_t j = 0; j < out.size(); ++j) out(j) = m(i, j);
  return out;
}

// The matrix with rows and columns exchanged, copied.
template <tensor_like M>
constexpr auto transpose(const M& m) noexcept {
  static_assert(detail::LayoutOf<M>::rank == 2, "transpose takes a matrix");
  Matrix<typename M::value_type, detail::LayoutOf<M>::cols, detail::LayoutOf<M>::rows> out{};
  for (std::size_t i = 0; i < m.extent(0); ++i)
    for (std::size_t j = 0; j < m.extent(1); ++j) out(j, i) = m(i, j);
  return out;
}

// The columns of a, then those of b: torch.cat([a, b], dim=-1).
template <tensor_like A, tensor_like B>
constexpr auto concat_columns(const A& a, const B& b) noexcept {
  using LayoutA = detail::LayoutOf<A>;
  using LayoutB = detail::LayoutOf<B>;
  static_assert(LayoutA::rows == LayoutB::rows && detail::same_batch<A, B>, "a and b must have the same number of rows");
  detail::WithCols<A, LayoutA::cols + LayoutB::cols> out{};
  for (std::size_t i = 0; i < LayoutA::batch * LayoutA::rows; ++i) {
    auto* const to = out.data() + i * (LayoutA::cols + LayoutB::cols);
    for (std::size_t j = 0; j < LayoutA::cols; ++j) to[j] = a.data()[i * LayoutA::stride + j];
    for (std::size_t j = 0; j < LayoutB::cols; ++j) to[LayoutA::cols + j] = b.data()[i * LayoutB::stride + j];
  }
  return out;
}

// Two of one shape make a batch: one more leading extent.
template <class T, std::size_t... Extents, std::size_t... ExtentsB>
constexpr Tensor<T, 2, Extents...> stack(const Tensor<T, Extents...>& a, const Tensor<T, ExtentsB...>& b) noexcept {
  static_assert(detail::same_shape<decltype(a), decltype(b)>, "a and b must have the same shape");
  Tensor<T, 2, Extents...> out{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    out.elements[i] = a.elements[i];
    out.elements[a.size() + i] = b.elements[i];
  }
  return out;
}

inline namespace TINYATTN_PORT_NAMESPACE {

// a + b, element by element.
template <std::size_t... Extents, std::size_t... ExtentsB>
constexpr Tensor<float, Extents...> add(const Tensor<float, Extents...>& a, const Tensor<float, ExtentsB...>& b) noexcept {
  static_assert(detail::same_shape<decltype(a), decltype(b)>, "a and b must have the same shape");
  return on_native_port([&](auto port) {
    using Single = typename decltype(port)::one_lane;
    Tensor<float, Extents...> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out.elements[i] = Single::add(a.elements[i], b.elements[i]);
    return out;
  });
}

}  // namespace TINYATTN_PORT_NAMESPACE

}  // namespace tinyattn

TINYATTN_END
