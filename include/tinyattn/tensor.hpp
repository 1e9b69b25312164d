// SPDX-License-Identifier: MIT
//
// Tensors: how they are made, viewed and copied. Their shapes are in shape.hpp.
#pragma once

#include "tinyattn/shape.hpp"

#include <cstddef>
#include <utility>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Makes a matrix of its elements, which determine the shape: matrix<float>({{1, 2, 3}, {4, 5, 6}})
// is 2 x 3.
template <class Element, std::size_t Rows, std::size_t Cols>
constexpr Matrix<Element, Rows, Cols> matrix(const Element (&rows)[Rows][Cols]) noexcept {
  Matrix<Element, Rows, Cols> out{};
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Cols; ++j) out(i, j) = rows[i][j];
  return out;
}

// Makes a vector of its elements: vector<float>({1, 2, 3}).
template <class Element, std::size_t Size>
constexpr Vector<Element, Size> vector(const Element (&elements)[Size]) noexcept {
  Vector<Element, Size> out{};
  for (std::size_t i = 0; i < Size; ++i) out(i) = elements[i];
  return out;
}

// Makes a tensor whose elements all have one value: full<float, 6, 6>(0.5f).
template <class Element, std::size_t... Extents>
constexpr Tensor<Element, Extents...> full(Element value) noexcept {
  Tensor<Element, Extents...> out{};
  for (Element& element : out.elements) element = value;
  return out;
}

// Makes a tensor of zeros: zeros<float, 6, 6>().
template <class Element, std::size_t... Extents>
constexpr Tensor<Element, Extents...> zeros() noexcept {
  return {};
}

// Makes a tensor of ones: ones<float, 6, 6>().
template <class Element, std::size_t... Extents>
constexpr Tensor<Element, Extents...> ones() noexcept {
  return full<Element, Extents...>(Element{1});
}

// Returns a view of columns first .. first + Count - 1 of m, which must exist (checked as an index
// is). It does not copy the elements, and is valid only as long as m.
template <std::size_t Count, class Element, std::size_t Rows, std::size_t Cols>
constexpr MatrixView<Element, Rows, Count, Cols> columns(Matrix<Element, Rows, Cols>& m,
                                                         std::size_t first) noexcept {
  static_assert(Count <= Cols, "a view has no more columns than its matrix");
  TINYATTN_CHECK_INDEX(first <= Cols - Count);
  return {m.data() + first};
}

template <std::size_t Count, class Element, std::size_t Rows, std::size_t Cols>
constexpr MatrixView<const Element, Rows, Count, Cols> columns(const Matrix<Element, Rows, Cols>& m,
                                                               std::size_t first) noexcept {
  static_assert(Count <= Cols, "a view has no more columns than its matrix");
  TINYATTN_CHECK_INDEX(first <= Cols - Count);
  return {m.data() + first};
}

template <std::size_t Count, class Element, std::size_t Rows, std::size_t Cols>
void columns(const Matrix<Element, Rows, Cols>&&,
             std::size_t) = delete;  // the view would outlive a temporary

// --- Copies. A result that is returned is on the stack. ---

// Copies row i < rows of a matrix or view [rows, cols] to `out`, [cols].
template <tensor_like TensorM, tensor_like Out>
constexpr void row(const TensorM& m, std::size_t i, Out& out) noexcept {
  constexpr bool is_matrix = detail::LayoutOf<TensorM>::rank == 2;
  constexpr bool fits =
      detail::LayoutOf<Out>::rank == 1 && Out::size() == detail::LayoutOf<TensorM>::cols;
  constexpr bool takes = detail::is_writable<Out, typename TensorM::value_type>;
  static_assert(is_matrix, "row takes a matrix");
  static_assert(!is_matrix || takes, "out must have the type of m's elements, and not be const");
  static_assert(!is_matrix || !takes || fits, "out must be a vector of a row's size");
  if constexpr (is_matrix && takes && fits)
    for (std::size_t j = 0; j < out.size(); ++j) out(j) = m(i, j);
}

template <tensor_like TensorM>
constexpr auto row(const TensorM& m, std::size_t i) noexcept {
  Vector<typename TensorM::value_type, detail::LayoutOf<TensorM>::cols> out{};
  row(m, i, out);
  return out;
}

TINYATTN_DIAGNOSTIC(tensor_like First, row(const First&, detail::Anything, ...),
                    "row takes (m, i) or (m, i, out): out is neither const nor a temporary")

// Writes the transpose of m [rows, cols] to `out`, which is [cols, rows] and may not be m.
template <tensor_like TensorM, tensor_like Out>
constexpr void transpose(const TensorM& m, Out& out) noexcept {
  using LayoutM = detail::LayoutOf<TensorM>;
  constexpr bool is_matrix = LayoutM::rank == 2 && detail::LayoutOf<Out>::rank == 2;
  constexpr bool fits = detail::LayoutOf<Out>::rows == LayoutM::cols &&  //
                        detail::LayoutOf<Out>::cols == LayoutM::rows;
  constexpr bool takes = detail::is_writable<Out, typename TensorM::value_type>;
  static_assert(is_matrix, "transpose takes a matrix");
  static_assert(!is_matrix || takes, "out must have the type of m's elements, and not be const");
  static_assert(!is_matrix || !takes || fits,
                "out must have the columns of m for rows, and its rows for columns");
  if constexpr (is_matrix && takes && fits)
    for (std::size_t i = 0; i < LayoutM::rows; ++i)
      for (std::size_t j = 0; j < LayoutM::cols; ++j) out(j, i) = m(i, j);
}

template <tensor_like TensorM>
constexpr auto transpose(const TensorM& m) noexcept {
  Matrix<typename TensorM::value_type, detail::LayoutOf<TensorM>::cols,
         detail::LayoutOf<TensorM>::rows>
      out{};
  transpose(m, out);
  return out;
}

TINYATTN_DIAGNOSTIC(tensor_like First, transpose(const First&, detail::Anything, ...),
                    "transpose takes (m) or (m, out): out is neither const nor a temporary")

// Writes the columns of a [rows, m], then those of b [rows, n] to `out`, [rows, m + n], as
// torch.cat([a, b], dim=-1). `out` may be neither a nor b.
template <tensor_like TensorA, tensor_like TensorB, tensor_like Out>
constexpr void concat_columns(const TensorA& a, const TensorB& b, Out& out) noexcept {
  using LayoutA = detail::LayoutOf<TensorA>;
  using LayoutB = detail::LayoutOf<TensorB>;
  constexpr bool rows = LayoutA::rows == LayoutB::rows && detail::same_batch<TensorA, TensorB>;
  constexpr bool takes = detail::is_writable<Out, typename TensorA::value_type> &&
                         detail::is_writable<Out, typename TensorB::value_type>;
  constexpr bool fits =
      detail::same_shape<Out, detail::WithCols<TensorA, LayoutA::cols + LayoutB::cols>>;
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

template <tensor_like TensorA, tensor_like TensorB>
constexpr auto concat_columns(const TensorA& a, const TensorB& b) noexcept {
  detail::WithCols<TensorA, detail::LayoutOf<TensorA>::cols + detail::LayoutOf<TensorB>::cols>
      out{};
  concat_columns(a, b, out);
  return out;
}

TINYATTN_DIAGNOSTIC(
    tensor_like First, concat_columns(const First&, ...),
    "concat_columns takes (a, b) or (a, b, out): out is neither const nor a temporary")

namespace detail {

// The tensor of the rows of both, matrix by matrix of a batch.
template <class Element, std::size_t Rows, std::size_t Cols, std::size_t... Batch>
auto with_rows(std::index_sequence<Batch...>) -> Tensor<Element, Batch..., Rows, Cols>;
template <class TensorA, class TensorB>
using WithRowsOfBoth =
    decltype(with_rows<typename TensorA::value_type,
                       LayoutOf<TensorA>::rows + LayoutOf<TensorB>::rows, LayoutOf<TensorA>::cols>(
        typename LayoutOf<TensorA>::batch_extents{}));

// Copies matrix `index` of m to the rows that start at `to`, `stride` elements apart.
template <class TensorM, class Element>
constexpr void copy_rows(const TensorM& m, std::size_t index, Element* to,
                         std::size_t stride) noexcept {
  const auto* const from = matrix_at(m, index);
  for (std::size_t i = 0; i < LayoutOf<TensorM>::rows; ++i)
    for (std::size_t j = 0; j < LayoutOf<TensorM>::cols; ++j)
      to[i * stride + j] = from[i * LayoutOf<TensorM>::stride + j];
}

}  // namespace detail

// Writes the rows of a [m, cols], then those of b [n, cols] to `out`, [m + n, cols], as
// torch.cat([a, b], dim=-2); a vector is one row. `out` may be neither a nor b.
template <tensor_like TensorA, tensor_like TensorB, tensor_like Out>
constexpr void concat_rows(const TensorA& a, const TensorB& b, Out& out) noexcept {
  using LayoutA = detail::LayoutOf<TensorA>;
  using LayoutOut = detail::LayoutOf<Out>;
  constexpr bool cols =
      LayoutA::cols == detail::LayoutOf<TensorB>::cols && detail::same_batch<TensorA, TensorB>;
  constexpr bool takes = detail::is_writable<Out, typename TensorA::value_type> &&
                         detail::is_writable<Out, typename TensorB::value_type>;
  constexpr bool fits = detail::same_shape<Out, detail::WithRowsOfBoth<TensorA, TensorB>>;
  static_assert(cols, "a and b must have the same number of columns");
  static_assert(!cols || takes, "out must have the type of a's and b's elements, and not be const");
  static_assert(!cols || !takes || fits, "out must have the rows of a and of b");
  if constexpr (cols && takes && fits)
    for (std::size_t i = 0; i < LayoutA::batch; ++i) {
      detail::copy_rows(a, i, detail::matrix_at(out, i), LayoutOut::stride);
      detail::copy_rows(b, i, detail::matrix_at(out, i) + LayoutA::rows * LayoutOut::stride,
                        LayoutOut::stride);
    }
}

template <tensor_like TensorA, tensor_like TensorB>
constexpr auto concat_rows(const TensorA& a, const TensorB& b) noexcept {
  detail::WithRowsOfBoth<TensorA, TensorB> out{};
  concat_rows(a, b, out);
  return out;
}

TINYATTN_DIAGNOSTIC(tensor_like First, concat_rows(const First&, ...),
                    "concat_rows takes (a, b) or (a, b, out): out is neither const nor a temporary")

// Stacks two tensors of the same shape along a new leading axis, as torch.stack does.
template <class Element, std::size_t... Extents, std::size_t... ExtentsB, std::size_t... ExtentsOut>
constexpr void stack(const Tensor<Element, Extents...>& a, const Tensor<Element, ExtentsB...>& b,
                     Tensor<Element, ExtentsOut...>& out) noexcept {
  static_assert(detail::same_shape<decltype(a), decltype(b)>, "a and b must have the same shape");
  static_assert(detail::same_shape<decltype(out), Tensor<Element, 2, Extents...>>,
                "out must have a 2 and then the extents of a");
  for (std::size_t i = 0; i < a.size(); ++i) {
    out.elements[i] = a.elements[i];
    out.elements[a.size() + i] = b.elements[i];
  }
}

template <class Element, std::size_t... Extents, std::size_t... ExtentsB>
constexpr Tensor<Element, 2, Extents...> stack(const Tensor<Element, Extents...>& a,
                                               const Tensor<Element, ExtentsB...>& b) noexcept {
  Tensor<Element, 2, Extents...> out{};
  stack(a, b, out);
  return out;
}

TINYATTN_DIAGNOSTIC(tensor_like First, stack(const First&, ...),
                    "stack takes (a, b) or (a, b, out): out is neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE
