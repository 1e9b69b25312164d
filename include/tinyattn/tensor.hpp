// SPDX-License-Identifier: MIT
//
// Tensors: how they are made, viewed and copied. Their shapes are in shape.hpp.
#pragma once

#include "tinyattn/shape.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

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

// Returns a view of columns first .. first + Count - 1 of a matrix or a view, which must exist
// (checked as an index is). It does not copy the elements, and is valid only as long as m.
template <std::size_t Count, tensor_like TensorM>
requires(detail::LayoutOf<TensorM>::rank == 2) constexpr auto columns(TensorM& m,
                                                                      std::size_t first) noexcept {
  using Layout = detail::LayoutOf<TensorM>;
  using Element = std::remove_pointer_t<decltype(m.data())>;
  static_assert(Count <= Layout::cols, "a view has no more columns than its matrix");
  TINYATTN_CHECK_INDEX(first <= Layout::cols - Count);
  return MatrixView<Element, Layout::rows, Count, Layout::stride>{m.data() + first};
}
template <std::size_t Count, tensor_like TensorM>
void columns(const TensorM&&, std::size_t) = delete;  // the view would outlive a temporary

// --- Copies: into `out`, or by value, on the stack. ---

namespace detail {

// A static_assert diagnoses an `out` that cannot take elements of these tensors; the caller then
// copies nothing.
template <class Out, class... Tensors>
consteval bool check_copy() noexcept {
  constexpr bool takes = (... && is_writable<Out, typename Tensors::value_type>);
  static_assert(takes, "out must have the type of the elements that are copied, and not be const");
  return takes;
}

// Copies matrix `index` of m to the rows that start at `to`, `stride` elements apart.
template <class TensorM, class Element>
constexpr void copy_rows(const TensorM& m, std::size_t index, Element* to,
                         std::size_t stride) noexcept {
  const auto* const from = matrix_at(m, index);
  for (std::size_t i = 0; i < LayoutOf<TensorM>::rows; ++i)
    for (std::size_t j = 0; j < LayoutOf<TensorM>::cols; ++j)
      to[i * stride + j] = from[i * LayoutOf<TensorM>::stride + j];
}

// Copies both to `out`, or to the result Both, matrix by matrix of a batch, if they `fit`: b begins
// behind the columns of a, or behind its rows.
template <class Both, bool fit, bool in_columns, class TensorA, class TensorB, class... Out>
constexpr auto concat(const TensorA& a, const TensorB& b, Out&... out) noexcept {
  using LayoutA = LayoutOf<TensorA>;
  return into<Both>(
      [&]<class To>(To& to) {
        if constexpr (fit && check_copy<To, TensorA, TensorB>()) {
          static_assert(same_shape<To, Both>, "out must have the columns, or the rows, of a and b");
          constexpr std::size_t stride = LayoutOf<To>::stride,
                                distance = in_columns ? LayoutA::cols : LayoutA::rows * stride;
          for (std::size_t i = 0; i < LayoutA::batch; ++i) {
            copy_rows(a, i, matrix_at(to, i), stride);
            copy_rows(b, i, matrix_at(to, i) + distance, stride);
          }
        }
      },
      out...);
}

}  // namespace detail

// Copies row i < rows of a matrix or view [rows, cols] to `out`, [cols].
template <tensor_like TensorM, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto row(const TensorM& m, std::size_t i, Out&... out) noexcept {
  using Layout = detail::LayoutOf<TensorM>;
  using Row = Vector<typename TensorM::value_type, Layout::cols>;
  static_assert(Layout::rank == 2, "row takes a matrix");
  return detail::into<Row>(
      [&]<class To>(To& to) {
        if constexpr (Layout::rank == 2 && detail::check_copy<To, TensorM>()) {
          static_assert(detail::same_shape<To, Row>, "out must be a vector of a row's size");
          for (std::size_t j = 0; j < Layout::cols; ++j) to.data()[j] = m(i, j);
        }
      },
      out...);
}

TINYATTN_DIAGNOSTIC(tensor_like First, row(const First&, detail::Anything, ...),
                    "row takes (m, i) or (m, i, out): out is neither const nor a temporary")

// Writes the transpose of m [rows, cols] to `out`, which is [cols, rows] and may not be m.
template <tensor_like TensorM, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto transpose(const TensorM& m, Out&... out) noexcept {
  using Layout = detail::LayoutOf<TensorM>;
  using Transposed = Matrix<typename TensorM::value_type, Layout::cols, Layout::rows>;
  static_assert(Layout::rank == 2, "transpose takes a matrix");
  return detail::into<Transposed>(
      [&]<class To>(To& to) {
        if constexpr (Layout::rank == 2 && detail::check_copy<To, TensorM>()) {
          static_assert(detail::same_shape<To, Transposed>,
                        "out must have the columns of m for rows, and its rows for columns");
          for (std::size_t i = 0; i < Layout::rows; ++i)
            for (std::size_t j = 0; j < Layout::cols; ++j)
              to.data()[j * detail::LayoutOf<To>::stride + i] = m(i, j);
        }
      },
      out...);
}

TINYATTN_DIAGNOSTIC(tensor_like First, transpose(const First&, detail::Anything, ...),
                    "transpose takes (m) or (m, out): out is neither const nor a temporary")

// Writes the columns of a [rows, m], then those of b [rows, n] to `out`, [rows, m + n], as
// torch.cat([a, b], dim=-1). `out` may be neither a nor b.
template <tensor_like TensorA, tensor_like TensorB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto concat_columns(const TensorA& a, const TensorB& b, Out&... out) noexcept {
  using LayoutA = detail::LayoutOf<TensorA>;
  using LayoutB = detail::LayoutOf<TensorB>;
  using Both = detail::WithCols<TensorA, LayoutA::cols + LayoutB::cols>;
  constexpr bool rows = LayoutA::rows == LayoutB::rows && detail::same_batch<TensorA, TensorB>;
  static_assert(rows, "a and b must have the same number of rows");
  return detail::concat<Both, rows, true>(a, b, out...);
}

TINYATTN_DIAGNOSTIC(
    tensor_like First, concat_columns(const First&, ...),
    "concat_columns takes (a, b) or (a, b, out): out is neither const nor a temporary")

// Writes the rows of a [m, cols], then those of b [n, cols] to `out`, [m + n, cols], as
// torch.cat([a, b], dim=-2); a vector is one row. `out` may be neither a nor b.
template <tensor_like TensorA, tensor_like TensorB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto concat_rows(const TensorA& a, const TensorB& b, Out&... out) noexcept {
  using LayoutA = detail::LayoutOf<TensorA>;
  using LayoutB = detail::LayoutOf<TensorB>;
  using Both =
      decltype(detail::with_batch<typename TensorA::value_type, LayoutA::rows + LayoutB::rows,
                                  LayoutA::cols>(typename LayoutA::batch_extents{}));
  constexpr bool cols = LayoutA::cols == LayoutB::cols && detail::same_batch<TensorA, TensorB>;
  static_assert(cols, "a and b must have the same number of columns");
  return detail::concat<Both, cols, false>(a, b, out...);
}

TINYATTN_DIAGNOSTIC(tensor_like First, concat_rows(const First&, ...),
                    "concat_rows takes (a, b) or (a, b, out): out is neither const nor a temporary")

// Stacks two tensors of the same shape along a new leading axis, as torch.stack does.
template <class Element, std::size_t... Extents, std::size_t... ExtentsB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto stack(const Tensor<Element, Extents...>& a, const Tensor<Element, ExtentsB...>& b,
                     Out&... out) noexcept {
  using Both = Tensor<Element, 2, Extents...>;
  static_assert(detail::same_shape<decltype(a), decltype(b)>, "a and b must have the same shape");
  return detail::into<Both>(
      [&]<class To>(To& to) {
        if constexpr (detail::check_copy<To, Both>()) {
          static_assert(detail::same_shape<To, Both> && !detail::has_gaps<To>,
                        "out must have a 2 and then the extents of a");
          for (std::size_t i = 0; i < a.size(); ++i) {
            to.data()[i] = a.elements[i];
            to.data()[a.size() + i] = b.elements[i];
          }
        }
      },
      out...);
}

TINYATTN_DIAGNOSTIC(tensor_like First, stack(const First&, ...),
                    "stack takes (a, b) or (a, b, out): out is neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
