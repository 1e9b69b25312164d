// SPDX-License-Identifier: MIT
//
// Visits the parameters of several modules side by side: of a model, its gradient, and moments.
#pragma once

#include "tinyattn/parameters.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Calls f(parameters...) for every parameter of modules of one type, one of each module at a time,
// in the order of for_each_parameter.
template <class First, class... More>
constexpr void visit_together(const auto& f, First& first, More&... more) {
  if constexpr (std::is_array_v<First>) {
    for (std::size_t i = 0; i < std::extent_v<First>; ++i) visit_together(f, first[i], more[i]...);
  } else if constexpr (parameter_like<First>) {
    f(first, more...);
  } else if constexpr (!std::is_empty_v<First>) {
    const auto visit_member = [&]<auto member>() TINYATTN_INLINE_LAMBDA {
      visit_together(f, first.*member, more.*member...);
    };
    const auto visit_members = [&]<const auto & names, auto... members>(
        Members<names, members...>) {
      (visit_member.template operator()<members>(), ...);
    };
    if constexpr (has_parts<First>)
      visit_members(typename First::Parts::Members{});
    else
      visit_members(typename First::Members{});
  }
}

struct NotFloats {
  template <class Parameter>
  consteval std::size_t operator()() const noexcept {
    if constexpr (tensor_like<Parameter>) return !holds_floats<Parameter>;
    return 1;
  }
};

// What has parameters: a tensor, a layer, and a model whose Parts name its members.
template <class Module>
concept has_parameters = parameter_like<Module> || has_parts<Module> || requires {
  typename Module::Members;
};

// Whether all parameters of a module are floats, which an optimizer can change.
template <class Module>
inline constexpr bool has_floats_alone = false;
template <has_parameters Module>
inline constexpr bool has_floats_alone<Module> =
    sum_over_parameters<std::remove_const_t<Module>>(NotFloats{}) == 0;

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
