// SPDX-License-Identifier: MIT
//
// A function of each element of tensors, which are repeated for each other as PyTorch does.
#pragma once

#include "tinyattn/detail/axes.hpp"
#include "tinyattn/functions.hpp"
#include "tinyattn/kernel/row.hpp"

#include <cstddef>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// A function of this library takes vectors; one of a program takes floats.
template <class Type>
inline constexpr bool is_function = false;
template <class Compute>
inline constexpr bool is_function<Function<Compute>> = true;

// Whether it takes so many operands.
template <class Of, std::size_t... Operand>
consteval bool takes(std::index_sequence<Operand...>) noexcept {
  if constexpr (is_function<Of>) return requires(const Of& of, kernel::Lanes<port::scalar> x) {
      of((Operand, x)...);
    };
  else
    return requires(const Of& of, float x) { of((Operand, x)...); };
}

// Calls step(last, others...).
template <std::size_t Others>
TINYATTN_ALWAYS_INLINE constexpr void with_last(const auto& step, auto& first,
                                                auto&... rest) noexcept {
  if constexpr (Others == 0)
    step(first, rest...);
  else
    with_last<Others - 1>(step, rest..., first);
}

// A number as a float; a tensor as it is.
template <class Term>
constexpr decltype(auto) of_floats(const Term& term) noexcept {
  if constexpr (strided<Term>)
    return (term);
  else
    return static_cast<float>(term);
}

// A vector of an operand, whose elements follow one another or are all the first.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr kernel::Lanes<Port> lanes_of(std::ptrdiff_t stride, auto at,
                                                              const float* row) noexcept {
  return stride == 0 ? Port::splat(*row) : at.load(row, 0.0f);
}

// Computes the elements of one row of a walk.
template <class Port, class Of, std::size_t... Term>
TINYATTN_ALWAYS_INLINE constexpr void compute_row(const Of& of, const auto& walk, float* out,
                                                  const float* const* terms,
                                                  std::index_sequence<Term...>) noexcept {
  const auto& row = walk.innermost();
  if constexpr (is_function<Of> && Port::lanes > 1)
    if (walk.has_vectors())
      return kernel::for_each_vector<Port>(row.extent, [&](auto at) TINYATTN_INLINE_LAMBDA {
        at.store(out, of(lanes_of<Port>(row.strides[Term + 1], at, terms[Term])...).v);
      });
  using Single = typename Port::one_lane;
  for (std::size_t i = 0; i < row.extent; ++i) {
    float& to = out[kernel::offset(i, row.strides[0])];
    if constexpr (is_function<Of>)
      to = of(kernel::Lanes<Single>(terms[Term][kernel::offset(i, row.strides[Term + 1])])...).v;
    else
      to = static_cast<float>(of(terms[Term][kernel::offset(i, row.strides[Term + 1])]...));
  }
}

template <class Of, class Out, class... Terms>
TINYATTN_ALWAYS_INLINE constexpr void compute_elements(const Of& of, Out& out,
                                                       const Terms&... terms) noexcept {
  if constexpr (check_floats<Out, Terms...>() && check_strided<Out, Terms...>()) {
    constexpr auto walk = walk_through<Out, Terms...>();
    on_native_port([&](auto port) {
      kernel::for_each_row<walk>([&](const auto& at) TINYATTN_INLINE_LAMBDA {
        std::size_t operand = 0;
        const float* const rows[] = {first_of(terms) + at[++operand]...};
        compute_row<decltype(port)>(of, kernel::ConstantWalk<walk>{}, out.data() + at[0], rows,
                                    std::index_sequence_for<Terms...>{});
      });
    });
  }
}

}  // namespace detail

// out = function(a, b, ...) of each element, by one of functions.hpp or by a function of floats:
//
//   elementwise(function::exp, a, out);                           a tensor, a view or a number for
//   elementwise(function::less, a, 0.5f, out);                    each operand; at most three
//   elementwise([](float x) { return x < 0 ? 0 : x; }, a, out);
//
// Axes of extent 1, and those that an operand lacks in front, are repeated. `out` may be a view,
// and an operand of its own shape and strides. Without it, elementwise(function, a, ...) returns
// the tensor, on the stack. A function of floats has the same bits everywhere only if no compiler
// may fuse a product and a sum in it.
template <class Of, class... Arguments>
constexpr auto elementwise(const Of& of, Arguments&&... arguments) noexcept {
  constexpr std::size_t count = sizeof...(Arguments);
  if constexpr ((detail::strided_term<Arguments> && ...) &&
                detail::takes<Of>(std::make_index_sequence<count>{})) {
    detail::Broadcast<Arguments...> result;
    detail::compute_elements(of, result, detail::of_floats(arguments)...);
    return result;
  } else if constexpr ((detail::strided_term<Arguments> && ...) && count > 1 &&
                       detail::takes<Of>(std::make_index_sequence<count - 1>{})) {
    detail::with_last<count - 1>(
        [&](auto& out, auto&... terms) TINYATTN_INLINE_LAMBDA {
          detail::compute_elements(of, out, detail::of_floats(terms)...);
        },
        arguments...);
  } else {
    static_assert(detail::no_such_call<Of>,
                  "elementwise takes (function, operands..., out), or no out: as many tensors, "
                  "views or numbers as the function has operands");
    return detail::Diagnosed{};
  }
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
