// SPDX-License-Identifier: MIT
//
// Tensors: how they are made, viewed, copied and added. Their shapes are in shape.hpp.
#pragma once

#include "tinyattn/kernel/row.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE {

// A matrix or vector from its elements; the shape is deduced: matrix<float>({{1, 2, 3}, {4, 5, 6}})
// is 2 x 3.
template <class T, std::size_t Rows, std::size_t Cols>
constexpr Matrix<T, Rows, Cols> matrix(const T (&rows)[Rows][Cols]) noexcept {
  Matrix<T, Rows, Cols> out{};
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Cols; ++j) out(i, j) = rows[i][j];
  return out;
}

// The same for a vector: vector<float>({1, 2, 3}).
template <class T, std::size_t Size>
constexpr Vector<T, Size> vector(const T (&elements)[Size]) noexcept {
  Vector<T, Size> out{};
  for (std::size_t i = 0; i < Size; ++i) out(i) = elements[i];
  return out;
}

// A tensor of one value: full<float, 6, 6>(0.5f).
template <class T, std::size_t... Extents>
constexpr Tensor<T, Extents...> full(T value) noexcept {
  Tensor<T, Extents...> out{};
  for (T& element : out.elements) element = value;
  return out;
}

// Of zeros: zeros<float, 6, 6>().
template <class T, std::size_t... Extents>
constexpr Tensor<T, Extents...> zeros() noexcept {
  return {};
}

// Of ones: ones<float, 6, 6>().
template <class T, std::size_t... Extents>
constexpr Tensor<T, Extents...> ones() noexcept {
  return full<T, Extents...>(T{1});
}

// Columns first .. first + Count - 1 of m, which must be there; not copied: lives no longer than m.
template <std::size_t Count, class T, std::size_t Rows, std::size_t Cols>
constexpr MatrixView<T, Rows, Count, Cols> columns(Matrix<T, Rows, Cols>& m,
                                                   std::size_t first) noexcept {
  static_assert(Count <= Cols, "a view has no more columns than its matrix");
  return {m.data() + first};
}

template <std::size_t Count, class T, std::size_t Rows, std::size_t Cols>
constexpr MatrixView<const T, Rows, Count, Cols> columns(const Matrix<T, Rows, Cols>& m,
                                                         std::size_t first) noexcept {
  static_assert(Count <= Cols, "a view has no more columns than its matrix");
  return {m.data() + first};
}

template <std::size_t Count, class T, std::size_t Rows, std::size_t Cols>
void columns(const Matrix<T, Rows, Cols>&&, std::size_t) = delete;  // the matrix would be gone

// --- Copies. By value, the result stands on the stack; with `out` last, nothing does. ---

// Row i < rows of a matrix or view [rows, cols]: out is [cols].
template <tensor_like M, tensor_like Out>
constexpr void row(const M& m, std::size_t i, Out& out) noexcept {
  constexpr bool is_matrix = detail::LayoutOf<M>::rank == 2;
  constexpr bool fits =
      detail::LayoutOf<Out>::rank == 1 && Out::size() == detail::LayoutOf<M>::cols;
  constexpr bool takes = detail::is_writable<Out, typename M::value_type>;
  static_assert(is_matrix, "row takes a matrix");
  static_assert(!is_matrix || takes, "out must have the type of m's elements, and not be const");
  static_assert(!is_matrix || !takes || fits, "out must be a vector of a row's size");
  if constexpr (is_matrix && takes && fits)
    for (std::size_t j = 0; j < out.size(); ++j) out(j) = m(i, j);
}

template <tensor_like M>
constexpr auto row(const M& m, std::size_t i) noexcept {
  Vector<typename M::value_type, detail::LayoutOf<M>::cols> out{};
  row(m, i, out);
  return out;
}

template <tensor_like M>
constexpr detail::Refused row(const M&, detail::Anything, ...) noexcept {
  static_assert(detail::no_such_call<M>,
                "row takes (m, i) or (m, i, out): out is neither const nor a temporary");
  return {};
}

// m [rows, cols] with rows and columns exchanged: out is [cols, rows], and may not be m.
template <tensor_like M, tensor_like Out>
constexpr void transpose(const M& m, Out& out) noexcept {
  using LayoutM = detail::LayoutOf<M>;
  constexpr bool is_matrix = LayoutM::rank == 2 && detail::LayoutOf<Out>::rank == 2;
  constexpr bool fits = detail::LayoutOf<Out>::rows == LayoutM::cols &&  //
                        detail::LayoutOf<Out>::cols == LayoutM::rows;
  constexpr bool takes = detail::is_writable<Out, typename M::value_type>;
  static_assert(is_matrix, "transpose takes a matrix");
  static_assert(!is_matrix || takes, "out must have the type of m's elements, and not be const");
  static_assert(!is_matrix || !takes || fits,
                "out must have the columns of m for rows, and its rows for columns");
  if constexpr (is_matrix && takes && fits)
    for (std::size_t i = 0; i < LayoutM::rows; ++i)
      for (std::size_t j = 0; j < LayoutM::cols; ++j) out(j, i) = m(i, j);
}

template <tensor_like M>
constexpr auto transpose(const M& m) noexcept {
  Matrix<typename M::value_type, detail::LayoutOf<M>::cols, detail::LayoutOf<M>::rows> out{};
  transpose(m, out);
  return out;
}

template <tensor_like M>
constexpr detail::Refused transpose(const M&, detail::Anything, ...) noexcept {
  static_assert(detail::no_such_call<M>,
                "transpose takes (m) or (m, out): out is neither const nor a temporary");
  return {};
}

// The columns of a [rows, m], then those of b [rows, n]: torch.cat([a, b], dim=-1). `out` is
// [rows, m + n], and may be neither.
template <tensor_like A, tensor_like B, tensor_like Out>
constexpr void concat_columns(const A& a, const B& b, Out& out) noexcept {
  using LayoutA = detail::LayoutOf<A>;
  using LayoutB = detail::LayoutOf<B>;
  constexpr bool rows = LayoutA::rows == LayoutB::rows && detail::same_batch<A, B>;
  constexpr bool takes = detail::is_writable<Out, typename A::value_type> &&
                         detail::is_writable<Out, typename B::value_type>;
  constexpr bool fits = detail::same_shape<Out, detail::WithCols<A, LayoutA::cols + LayoutB::cols>>;
  static_assert(rows, "a and b must have the same number of rows");
  static_assert(!rows || takes, "out must have the type of a's and b's elements, and not be const");
  static_assert(!rows || !takes || fits, "out must have the columns of a and of b");
  if constexpr (rows && takes && fits)
    for (std::size_t i = 0; i < LayoutA::batch * LayoutA::rows; ++i) {
      auto* const to = out.data() + i * detail::LayoutOf<Out>::stride;
      for (std::size_t j = 0; j < LayoutA::cols; ++j) to[j] = a.data()[i * LayoutA::stride + j];
      for (std::size_t j = 0; j < LayoutB::cols; ++j)
        to[LayoutA::cols + j] = b.data()[i * LayoutB::stride + j];
    }
}

template <tensor_like A, tensor_like B>
constexpr auto concat_columns(const A& a, const B& b) noexcept {
  detail::WithCols<A, detail::LayoutOf<A>::cols + detail::LayoutOf<B>::cols> out{};
  concat_columns(a, b, out);
  return out;
}

template <tensor_like A>
constexpr detail::Refused concat_columns(const A&, ...) noexcept {
  static_assert(detail::no_such_call<A>,
                "concat_columns takes (a, b) or (a, b, out): out is neither const nor a temporary");
  return {};
}

// Two of one shape make a batch: one more leading extent.
template <class T, std::size_t... Extents, std::size_t... ExtentsB, std::size_t... ExtentsOut>
constexpr void stack(const Tensor<T, Extents...>& a, const Tensor<T, ExtentsB...>& b,
                     Tensor<T, ExtentsOut...>& out) noexcept {
  static_assert(detail::same_shape<decltype(a), decltype(b)>, "a and b must have the same shape");
  static_assert(detail::same_shape<decltype(out), Tensor<T, 2, Extents...>>,
                "out must have the extents of a behind a 2");
  for (std::size_t i = 0; i < a.size(); ++i) {
    out.elements[i] = a.elements[i];
    out.elements[a.size() + i] = b.elements[i];
  }
}

template <class T, std::size_t... Extents, std::size_t... ExtentsB>
constexpr Tensor<T, 2, Extents...> stack(const Tensor<T, Extents...>& a,
                                         const Tensor<T, ExtentsB...>& b) noexcept {
  Tensor<T, 2, Extents...> out{};
  stack(a, b, out);
  return out;
}

template <tensor_like A>
constexpr detail::Refused stack(const A&, ...) noexcept {
  static_assert(detail::no_such_call<A>,
                "stack takes (a, b) or (a, b, out): out is neither const nor a temporary");
  return {};
}

// a + b, element by element, of one shape. `out` may be a or b.
template <tensor_like A, tensor_like B, tensor_like Out>
constexpr void add(const A& a, const B& b, Out& out) noexcept {
  constexpr bool floats = detail::holds_floats<A> && detail::holds_floats<B>;
  constexpr bool writable = detail::is_writable<Out>, same = detail::same_shape<A, B>;
  constexpr bool fits = detail::same_shape<A, Out>;
  static_assert(floats, "a and b must hold floats");
  static_assert(!floats || writable, "out must hold floats, and not be const");
  static_assert(!floats || same, "a and b must have the same shape");
  static_assert(!floats || !writable || !same || fits, "out must have the shape of a and b");
  if constexpr (floats && writable && same && fits)
    on_native_port([&](auto port) {
      using LayoutA = detail::LayoutOf<A>;
      for (std::size_t i = 0; i < LayoutA::batch * LayoutA::rows; ++i)
        kernel::add_rows<decltype(port)>(
            a.data() + i * LayoutA::stride, b.data() + i * detail::LayoutOf<B>::stride,
            out.data() + i * detail::LayoutOf<Out>::stride, LayoutA::cols);
    });
}

template <tensor_like A, tensor_like B>
constexpr auto add(const A& a, const B& b) noexcept {
  detail::Like<A> out;
  add(a, b, out);
  return out;
}

template <tensor_like A>
constexpr detail::Refused add(const A&, ...) noexcept {
  static_assert(detail::no_such_call<A>,
                "add takes (a, b) or (a, b, out): tensors of one shape; out is neither const nor a "
                "temporary");
  return {};
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE

TINYATTN_END
