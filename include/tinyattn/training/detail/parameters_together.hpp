// SPDX-License-Identifier: MIT
//
// Visits the parameters of several modules side by side: of a model, its gradient, and moments.
#pragma once

#include "tinyattn/parameters.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

template <std::size_t Index>
constexpr auto& pick(auto& first, auto&... rest) noexcept {
  if constexpr (Index == 0)
    return first;
  else
    return pick<Index - 1>(rest...);
}

// Returns a member of a module, by its place among the members.
template <std::size_t Index>
constexpr auto& member_at(auto& module) noexcept {
  return *members_of(module,
                     [](const auto&, auto&... members) { return &pick<Index>(members...); });
}

struct CountMembers {
  template <class... Members>
  auto operator()(const auto&, Members&...) const
      -> std::integral_constant<std::size_t, sizeof...(Members)> {
    return {};
  }
};

// Calls f(parameters...) for every parameter of modules of one type, one of each module at a time,
// in the order of for_each_parameter.
template <class First, class... More>
constexpr void visit_together(const auto& f, First& first, More&... more) {
  if constexpr (std::is_array_v<First>) {
    for (std::size_t i = 0; i < std::extent_v<First>; ++i) visit_together(f, first[i], more[i]...);
  } else if constexpr (parameter_like<First>) {
    f(first, more...);
  } else if constexpr (!std::is_empty_v<First>) {
    const auto visit_member = [&]<std::size_t Index>(std::integral_constant<std::size_t, Index>) {
      visit_together(f, member_at<Index>(first), member_at<Index>(more)...);
    };
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (visit_member(std::integral_constant<std::size_t, Index>{}), ...);
    }
    (std::make_index_sequence<decltype(members_of(first, CountMembers{}))::value>{});
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
