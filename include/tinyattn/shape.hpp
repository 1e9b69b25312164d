// SPDX-License-Identifier: MIT
//
// Shapes: tensors whose extents are part of their type, and views of their elements. A tensor owns
// its elements, in place and row-major; there is no heap and nothing to free, and a constexpr
// tensor lies in flash. And the types of weights.
#pragma once

#include "tinyattn/port/found.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

#if defined(TINYATTN_CHECKED) || defined(_GLIBCXX_ASSERTIONS) || \
    defined(_LIBCPP_ENABLE_ASSERTIONS) ||                        \
    (defined(_LIBCPP_HARDENING_MODE) && _LIBCPP_HARDENING_MODE != _LIBCPP_HARDENING_MODE_NONE)
// Traps if an index is outside its extent: the program defines TINYATTN_CHECKED, or enables the
// assertions of its standard library.
#define TINYATTN_CHECK_INDEX(is_inside) static_cast<void>((is_inside) || (__builtin_trap(), false))
#else
// Does nothing: indices are checked only if TINYATTN_CHECKED is defined.
#define TINYATTN_CHECK_INDEX(is_inside) static_cast<void>(0)
#endif

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Whether an object of these extents has no more than PTRDIFF_MAX bytes, as objects must.
consteval bool is_addressable(std::size_t element_size,
                              std::initializer_list<std::size_t> extents) noexcept {
  std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / element_size;
  for (const std::size_t extent : extents) most = extent == 0 ? most : most / extent;
  return most != 0;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

namespace tinyattn {

// A tensor of Extents, row-major: Tensor<float, 8, 20, 48> is a batch of 8 matrices of 20 rows and
// 48 columns. It is an aggregate; {} is all zeros.
template <class Element, std::size_t... Extents>
struct Tensor {
  static_assert(sizeof...(Extents) != 0, "a tensor needs an extent");
  static_assert(((Extents != 0) && ...), "an extent must not be zero");
  static_assert(detail::is_addressable(sizeof(Element), {Extents...}),
                "a tensor has more bytes than this target can address");

  using value_type = Element;                                    // type of an element
  static constexpr std::size_t rank = sizeof...(Extents);        // number of extents
  static constexpr std::size_t element_count = (Extents * ...);  // number of elements

  Element elements[element_count];  // row-major

  // Returns an element by one index per extent, each below its extent; checked at run time with
  // TINYATTN_CHECKED.
  template <class... Index>
  TINYATTN_ALWAYS_INLINE constexpr Element& operator()(Index... index) noexcept {
    return elements[offset(index...)];
  }
  template <class... Index>
  TINYATTN_ALWAYS_INLINE constexpr const Element& operator()(Index... index) const noexcept {
    return elements[offset(index...)];
  }

  // Returns a pointer to the first element.
  TINYATTN_ALWAYS_INLINE constexpr Element* data() noexcept { return elements; }
  TINYATTN_ALWAYS_INLINE constexpr const Element* data() const noexcept { return elements; }
  // Returns the number of elements.
  TINYATTN_ALWAYS_INLINE static constexpr std::size_t size() noexcept { return element_count; }
  // Returns the extent of an axis, which must be below rank.
  TINYATTN_ALWAYS_INLINE static constexpr std::size_t extent(std::size_t axis) noexcept {
    constexpr std::size_t extents[rank] = {Extents...};
    return extents[axis];
  }

  TINYATTN_ALWAYS_INLINE friend constexpr bool operator==(const Tensor&, const Tensor&) = default;

 private:
  template <class... Index>
  TINYATTN_ALWAYS_INLINE static constexpr std::size_t offset(Index... index) noexcept {
    static_assert(sizeof...(Index) == rank, "a tensor takes one index for each of its extents");
    TINYATTN_CHECK_INDEX(((static_cast<std::size_t>(index) < Extents) && ...));
    std::size_t position = 0;
    ((position = position * Extents + static_cast<std::size_t>(index)), ...);
    return position;
  }
};

// [Rows, Cols]
template <class Element, std::size_t Rows, std::size_t Cols>
using Matrix = Tensor<Element, Rows, Cols>;

// [Size]; a matrix of one row where a matrix is expected.
template <class Element, std::size_t Size>
using Vector = Tensor<Element, Size>;

// A view of some columns of a matrix, without a copy: row i + 1 starts `Stride` elements after row
// i. A head of attention reads such views of the queries, keys and values.
template <class Element, std::size_t Rows, std::size_t Cols, std::size_t Stride>
struct MatrixView {
  static_assert(Rows != 0 && Cols != 0, "an extent must not be zero");
  static_assert(detail::is_addressable(sizeof(Element), {Rows, Cols}) &&
                    detail::is_addressable(sizeof(Element), {Rows, Stride}),
                "a view has more bytes than this target can address");

  using value_type = std::remove_const_t<Element>;  // type of an element
  static constexpr std::size_t rank = 2;            // a view is a matrix

  Element* first;  // the element in row 0 and column 0

  // Returns the element in row i and column j; checked at run time with TINYATTN_CHECKED.
  template <class RowIndex, class ColIndex>
  TINYATTN_ALWAYS_INLINE constexpr Element& operator()(RowIndex i, ColIndex j) const noexcept {
    TINYATTN_CHECK_INDEX(static_cast<std::size_t>(i) < Rows && static_cast<std::size_t>(j) < Cols);
    return first[static_cast<std::size_t>(i) * Stride + static_cast<std::size_t>(j)];
  }
  // Returns a pointer to the first element.
  TINYATTN_ALWAYS_INLINE constexpr Element* data() const noexcept { return first; }
  // Returns the number of elements, without those between the rows.
  TINYATTN_ALWAYS_INLINE static constexpr std::size_t size() noexcept { return Rows * Cols; }
  // Returns the number of rows for axis 0, of columns for axis 1.
  TINYATTN_ALWAYS_INLINE static constexpr std::size_t extent(std::size_t axis) noexcept {
    return axis == 0 ? Rows : Cols;
  }
};

// The extents of a view.
template <std::size_t... Each>
using Extents = std::index_sequence<Each...>;
// How far apart the elements of each axis of a view are: 0 repeats them.
template <std::ptrdiff_t... Each>
using Strides = std::integer_sequence<std::ptrdiff_t, Each...>;

// A view of any rank: StridedView<const float, Extents<3, 4>, Strides<1, 3>>{m.data()} is the
// transpose of a matrix [4, 3]. It copies nothing; what it views must exist as long as it does.
template <class Element, class ExtentsOfAxes, class StridesOfAxes>
struct StridedView;

// The same, by its axes.
template <class Element, std::size_t... Extent, std::ptrdiff_t... Stride>
struct StridedView<Element, Extents<Extent...>, Strides<Stride...>> {
  static_assert(sizeof...(Extent) != 0 && sizeof...(Extent) == sizeof...(Stride),
                "a view needs an extent and a stride for each axis");
  static_assert(((Extent != 0) && ...), "an extent must not be zero");

  using value_type = std::remove_const_t<Element>;  // type of an element

  Element* first;  // the element whose indices are all 0

  // Returns a pointer to that element.
  TINYATTN_ALWAYS_INLINE constexpr Element* data() const noexcept { return first; }
};

// A height and a width, such as those of a kernel; one number is both.
struct Size2d {
  std::size_t height, width;  // rows and columns

  // Of one number, or of two.
  constexpr Size2d(std::size_t both) noexcept : height(both), width(both) {}  // NOLINT
  constexpr Size2d(std::size_t h, std::size_t w) noexcept : height(h), width(w) {}
};

// The type of the weights of a layer, or of the keys and values of a cache.
enum class Weights : unsigned char {
  f32,  // floats
  int8  // integers from -127 to 127, times a scale; weights.hpp has their storage
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Describes a tensor or view as a batch of matrices whose rows start `stride` elements apart; a
// vector is a matrix of one row.
template <class TensorM>
struct Layout;

template <class Element, std::size_t... Extents>
struct Layout<Tensor<Element, Extents...>> {
  static constexpr std::size_t extents[sizeof...(Extents)] = {Extents...};
  static constexpr std::size_t rank = sizeof...(Extents);
  static constexpr std::size_t cols = extents[rank - 1];
  static constexpr std::size_t rows = rank == 1 ? 1 : extents[rank == 1 ? 0 : rank - 2];
  static constexpr std::size_t batch = (Extents * ...) / (rows * cols);
  static constexpr std::size_t stride = cols;

  template <std::size_t Cols, std::size_t... Axis>
  static auto with_cols(std::index_sequence<Axis...>)
      -> Tensor<Element, (Axis + 1 == rank ? Cols : Extents)...>;
  template <std::size_t... Axis>
  static auto leading(std::index_sequence<Axis...>) -> std::index_sequence<extents[Axis]...>;
  using batch_extents = decltype(leading(std::make_index_sequence<(rank > 2 ? rank - 2 : 0)>{}));
};

template <class Element, std::size_t Rows, std::size_t Cols, std::size_t Stride>
struct Layout<MatrixView<Element, Rows, Cols, Stride>> {
  static constexpr std::size_t rank = 2;
  static constexpr std::size_t cols = Cols;
  static constexpr std::size_t rows = Rows;
  static constexpr std::size_t batch = 1;
  static constexpr std::size_t stride = Stride;
  using batch_extents = std::index_sequence<>;

  template <std::size_t NewCols, std::size_t... Axis>
  static auto with_cols(std::index_sequence<Axis...>)
      -> Matrix<std::remove_const_t<Element>, Rows, NewCols>;
};

template <class TensorM>
using LayoutOf = Layout<std::remove_cvref_t<TensorM>>;

// The tensor with the extents of TensorM, but Cols as the last.
template <class TensorM, std::size_t Cols>
using WithCols = decltype(LayoutOf<TensorM>::template with_cols<Cols>(
    std::make_index_sequence<LayoutOf<TensorM>::rank>{}));

template <class TensorM>
using Like = WithCols<TensorM, LayoutOf<TensorM>::cols>;

// The tensor [Batch..., Extents...] of floats, where Batch are those of TensorM.
template <class Element, std::size_t... Extents, std::size_t... Batch>
auto with_batch(std::index_sequence<Batch...>) -> Tensor<Element, Batch..., Extents...>;
template <class TensorM, std::size_t... Extents>
using WithBatch =
    decltype(with_batch<float, Extents...>(typename LayoutOf<TensorM>::batch_extents{}));

// The attention weights for queries of the shape of TensorM.
template <class TensorM, std::size_t NumHeads, std::size_t SourceTokens>
using WithHeads = WithBatch<TensorM, NumHeads, LayoutOf<TensorM>::rows, SourceTokens>;

// The first element of matrix `index` of a batch.
template <class TensorM>
constexpr auto matrix_at(TensorM& m, std::size_t index) noexcept {
  return m.data() + index * LayoutOf<TensorM>::rows * LayoutOf<TensorM>::stride;
}

template <class TensorA, class TensorB>
inline constexpr bool same_shape = std::is_same_v<Like<TensorA>, Like<TensorB>>;
template <class TensorA, class TensorB>
inline constexpr bool same_batch = std::is_same_v<typename LayoutOf<TensorA>::batch_extents,
                                                  typename LayoutOf<TensorB>::batch_extents>;
template <class TensorM>
inline constexpr bool holds_floats =
    std::is_same_v<typename std::remove_cvref_t<TensorM>::value_type, float>;

// Whether other elements lie between the rows of a matrix.
template <class TensorM>
inline constexpr bool has_gaps = false;
template <class Element, std::size_t Rows, std::size_t Cols, std::size_t Stride>
inline constexpr bool has_gaps<MatrixView<Element, Rows, Cols, Stride>> =
    Rows != 1 && Stride != Cols;

// Whether TensorM can be an output: its elements have the type Element and are not const.
template <class TensorM, class Element = float>
inline constexpr bool is_writable =
    std::is_same_v<decltype(std::declval<TensorM&>().data()), Element*>;

// False, but dependent on the call: for the static_assert of a diagnostic overload. The compiler
// chooses such an overload only if no other fits, since a conversion to `...` ranks last, and one
// to Anything just before it.
template <class...>
inline constexpr bool no_such_call = false;
struct Anything {
  constexpr Anything(const auto&) noexcept {}  // NOLINT(google-explicit-constructor)
  constexpr Anything(std::initializer_list<Anything>) noexcept {}  // from braces
};

// An array or a pointer has a diagnostic of its own.
template <class Array>
consteval bool diagnose_array() noexcept {
  static_assert(no_such_call<Array, void>,
                "an array or a pointer is no tensor: MatrixView<const float, rows, columns, "
                "stride>{pointer to the first element} is a matrix of what lies there");
  return true;
}
template <class Element>
inline constexpr bool no_such_call<Element*> = diagnose_array<Element*>();
template <class Element, std::size_t Size>
inline constexpr bool no_such_call<Element[Size]> = diagnose_array<Element[Size]>();
struct Diagnosed {
  template <class Result>
  constexpr operator Result() const noexcept {  // NOLINT(google-explicit-constructor)
    return {};
  }
  friend constexpr bool operator==(Diagnosed, const auto&) noexcept { return true; }
};

}  // namespace detail

// Says in a sentence how a function is called, if no other overload takes a call: `parameter` is
// that of the template, `declarator` the overload, whose first argument has that type.
#define TINYATTN_DIAGNOSTIC(parameter, declarator, sentence) \
  template <parameter>                                       \
  constexpr detail::Diagnosed declarator noexcept {          \
    static_assert(detail::no_such_call<First>, sentence);    \
    return {};                                               \
  }

// A Tensor or a MatrixView, whose type has the shape.
template <class TensorM>
concept tensor_like = requires {
  detail::LayoutOf<TensorM>::rank;
};

namespace detail {

// The two forms of a function of tensors: f(m, out) writes its result, f(m) returns it, on the
// stack.
template <class... Out>
concept at_most_one = sizeof...(Out) <= 1;

// Calls write(out), or, without an `out`, write(result), and returns that.
template <class Result, class... Out>
TINYATTN_ALWAYS_INLINE constexpr auto into(const auto& write, Out&... out) noexcept {
  if constexpr (sizeof...(Out) != 0) {
    write(out...);
  } else {
    Result result;
    write(result);
    return result;
  }
}

}  // namespace detail

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE
