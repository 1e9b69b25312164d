// SPDX-License-Identifier: MIT
//
// Sums, differences and products, element by element, as + - * of PyTorch's tensors. One of the two
// operands may be a number, for all elements of the other, or a row, for all its rows. Each element
// is rounded once; NaN and infinity go through.
#pragma once

#include "tinyattn/shape.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// A tensor, or a number, which is converted to float; and one that goes with Other: not two
// numbers.
template <class Type>
concept term = tensor_like<Type> || std::is_arithmetic_v<Type>;
template <class Type, class Other>
concept term_with = term<Type> &&(tensor_like<Type> || tensor_like<Other>);

// Whether Part is a number, or one row with the columns of Whole.
template <class Part, class Whole>
consteval bool is_broadcast() noexcept {
  if constexpr (tensor_like<Part> && tensor_like<Whole>)
    return LayoutOf<Part>::rank <= 2 && LayoutOf<Part>::rank <= LayoutOf<Whole>::rank &&
           LayoutOf<Part>::rows == 1 && LayoutOf<Part>::cols == LayoutOf<Whole>::cols;
  else
    return !tensor_like<Part>;
}

// The tensor that a combination of both gives; of both in either order, if they match.
template <class TermA, class TermB>
using Combined = Like<std::conditional_t<is_broadcast<TermA, TermB>(), TermB, TermA>>;

template <class Term>
consteval bool is_number_or_floats() noexcept {
  if constexpr (tensor_like<Term>)
    return holds_floats<Term>;
  else
    return true;
}

// A static_assert diagnoses wrong operands; the caller then computes nothing.
template <class TermA, class TermB, class Out>
consteval bool check_terms() noexcept {
  using Result = Combined<TermA, TermB>;
  constexpr bool floats = is_number_or_floats<TermA>() && is_number_or_floats<TermB>();
  constexpr bool writable = is_writable<Out>;
  constexpr bool match = std::is_same_v<Result, Combined<TermB, TermA>>;
  constexpr bool fits = same_shape<Result, Out>;
  static_assert(floats, "a and b must hold floats");
  static_assert(!floats || writable, "out must hold floats, and not be const");
  static_assert(!floats || match,
                "a and b must have the same shape, or one must be a row for the other's rows");
  static_assert(!floats || !writable || !match || fits,
                "out must have the shape of a and b, or of the one that is no row");
  return floats && writable && match && fits;
}

// Element j of a row and those after it, or a number for all.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr auto vector_at(const float* row, std::size_t j) noexcept {
  return Port::load(row + j);
}
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr auto vector_at(float number, std::size_t) noexcept {
  return Port::broadcast(number);
}

// Combines `count` elements by operation(Port, a, b): in whole vectors, and the rest one by one.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void combine_elements(const float* a, auto b, float* out,
                                                       std::size_t count,
                                                       const auto& operation) noexcept {
  using Single = typename Port::one_lane;
  std::size_t j = 0;
  for (; count - j >= Port::lanes; j += Port::lanes)
    Port::store(out + j, operation(Port{}, Port::load(a + j), vector_at<Port>(b, j)));
  for (; j < count; ++j) out[j] = operation(Single{}, a[j], vector_at<Single>(b, j));
}

// Row i of a term: one that is broadcast is the same for all rows of Out.
template <class Out, class Term>
TINYATTN_ALWAYS_INLINE constexpr auto row_of(const Term& term, std::size_t i) noexcept {
  if constexpr (tensor_like<Term>)
    return term.data() + (same_shape<Term, Out> ? i * LayoutOf<Term>::stride : 0);
  else
    return term;
}

// Whether the elements of a term lie as those of Out, without gaps; a number lies nowhere.
template <class Out, class Term>
consteval bool is_dense() noexcept {
  if constexpr (tensor_like<Term>)
    return same_shape<Term, Out> && !has_gaps<Term>;
  else
    return true;
}

// Combines a, a tensor, with b, a tensor or a float. If rows have no gaps between them, vectors
// treat all of them as one row; on a port of one lane nothing would be gained.
template <class TermA, class TermB, class Out>
constexpr void combine_rows(const TermA& a, const TermB& b, Out& out,
                            const auto& operation) noexcept {
  on_native_port([&](auto port) {
    using Port = decltype(port);
    using LayoutOut = LayoutOf<Out>;
    constexpr bool as_one =
        Port::lanes > 1 && is_dense<Out, TermA>() && is_dense<Out, TermB>() && !has_gaps<Out>;
    constexpr std::size_t rows = as_one ? 1 : LayoutOut::batch * LayoutOut::rows;
    for (std::size_t i = 0; i < rows; ++i)
      combine_elements<Port>(row_of<Out>(a, i), row_of<Out>(b, i),
                             out.data() + i * LayoutOut::stride,
                             as_one ? Out::size() : LayoutOut::cols, operation);
  });
}

// Combines two terms, of which only one may be a number: the second, or either if operands may
// change places. Returns the result if there is no `out`.
template <class TermA, class TermB>
constexpr auto combine(const TermA& a, const TermB& b, const auto& operation,
                       auto&... out) noexcept {
  return into<Combined<TermA, TermB>>(
      [&]<class Out>(Out& to) TINYATTN_INLINE_LAMBDA {
        if constexpr (!check_terms<TermA, TermB, Out>())
          return;
        else if constexpr (!tensor_like<TermA>)
          combine_rows(b, static_cast<float>(a), to, operation);
        else if constexpr (!tensor_like<TermB>)
          combine_rows(a, static_cast<float>(b), to, operation);
        else
          combine_rows(a, b, to, operation);
      },
      out...);
}

// What is computed of a vector v, and of another or of a number for all its lanes. by - v is -v +
// by: a change of sign rounds nothing.
inline constexpr auto sum_of = []<class Port>(Port, auto v, auto by)
                                   TINYATTN_INLINE_LAMBDA { return Port::add(v, by); };
inline constexpr auto product_of = []<class Port>(Port, auto v, auto by)
                                       TINYATTN_INLINE_LAMBDA { return Port::mul(v, by); };
inline constexpr auto difference_from = []<class Port>(Port, auto v,
                                                       auto by) TINYATTN_INLINE_LAMBDA {
  if constexpr (Port::lanes == 1)
    return Port::add(-v, by);
  else
    return Port::add(Port::mul(v, Port::broadcast(-1.0f)), by);
};

// Whether no form takes a call of so many arguments, of which the first, a Type, is no tensor.
template <class Type, std::size_t Arguments>
concept no_first_term = !tensor_like<Type> && (Arguments > 2 || !term<Type>);

}  // namespace detail

// Says in a sentence how a function of terms is called, whichever of its operands is the tensor.
#define TINYATTN_DIAGNOSTICS_OF_TERMS(name, takes)                                             \
  TINYATTN_DIAGNOSTIC(tensor_like First, name(const First&, detail::Anything = 0, ...), takes) \
  template <class First, tensor_like Second, class... More>                                    \
  requires detail::no_first_term<First, 2 + sizeof...(More)>                                   \
  constexpr detail::Diagnosed name(const First&, const Second&, const More&...) noexcept {     \
    static_assert(detail::no_such_call<First>, takes);                                         \
    return {};                                                                                 \
  }
// The rest of that sentence.
#define TINYATTN_TAKES_TERMS                                                                    \
  " takes (a, b) or (a, b, out): tensors of float, one of which may be a row or a number; out " \
  "is neither const nor a temporary"

// Computes a + b: tensors of one shape, or one of them a row or a number. `out` has the shape of
// the larger one, and may be an operand of its shape.
template <detail::term TermA, detail::term_with<TermA> TermB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto add(const TermA& a, const TermB& b, Out&... out) noexcept {
  return detail::combine(a, b, detail::sum_of, out...);
}
TINYATTN_DIAGNOSTICS_OF_TERMS(add, "add" TINYATTN_TAKES_TERMS)

// Computes a - b, of operands as above.
template <detail::term TermA, detail::term_with<TermA> TermB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto subtract(const TermA& a, const TermB& b, Out&... out) noexcept {
  if constexpr (tensor_like<TermB>)
    return detail::combine(b, a, detail::difference_from, out...);
  else
    return detail::combine(a, -static_cast<float>(b), detail::sum_of, out...);
}
TINYATTN_DIAGNOSTICS_OF_TERMS(subtract, "subtract" TINYATTN_TAKES_TERMS)

// Computes a * b, of operands as above.
template <detail::term TermA, detail::term_with<TermA> TermB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto multiply(const TermA& a, const TermB& b, Out&... out) noexcept {
  return detail::combine(a, b, detail::product_of, out...);
}
TINYATTN_DIAGNOSTICS_OF_TERMS(multiply, "multiply" TINYATTN_TAKES_TERMS)

#undef TINYATTN_DIAGNOSTICS_OF_TERMS
#undef TINYATTN_TAKES_TERMS

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
