// SPDX-License-Identifier: MIT
//
// Sums, differences and products, element by element, as + - * of PyTorch's tensors: names for
// calls of elementwise. Each element is rounded once; NaN and infinity go through.
#pragma once

#include "tinyattn/elementwise.hpp"
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
#define TINYATTN_TAKES_TERMS                                                              \
  " takes (a, b) or (a, b, out): tensors of float, one of which may be a number; out is " \
  "neither const nor a temporary"

// Computes a + b: tensors, or one of them and a number. Axes of extent 1, and those that one lacks
// in front, are repeated, as a row is for all rows of the other. `out` has the extents of the
// result, and may be an operand of its shape.
template <detail::term TermA, detail::term_with<TermA> TermB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto add(const TermA& a, const TermB& b, Out&... out) noexcept {
  return elementwise(function::add, a, b, out...);
}
TINYATTN_DIAGNOSTICS_OF_TERMS(add, "add" TINYATTN_TAKES_TERMS)

// Computes a - b, of operands as above.
template <detail::term TermA, detail::term_with<TermA> TermB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto subtract(const TermA& a, const TermB& b, Out&... out) noexcept {
  return elementwise(function::subtract, a, b, out...);
}
TINYATTN_DIAGNOSTICS_OF_TERMS(subtract, "subtract" TINYATTN_TAKES_TERMS)

// Computes a * b, of operands as above.
template <detail::term TermA, detail::term_with<TermA> TermB, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto multiply(const TermA& a, const TermB& b, Out&... out) noexcept {
  return elementwise(function::multiply, a, b, out...);
}
TINYATTN_DIAGNOSTICS_OF_TERMS(multiply, "multiply" TINYATTN_TAKES_TERMS)

#undef TINYATTN_DIAGNOSTICS_OF_TERMS
#undef TINYATTN_TAKES_TERMS

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
