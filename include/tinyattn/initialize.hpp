// SPDX-License-Identifier: MIT
//
// The initial weights of a module, drawn as PyTorch draws them.
#pragma once

#include "tinyattn/parameters.hpp"
#include "tinyattn/random.hpp"

#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

template <class Absent>
requires std::is_empty_v<Absent>
constexpr void initialize_member(Absent&, auto&) noexcept {}
template <class Module>
constexpr void initialize_member(Module& module, auto& generator) noexcept {
  if constexpr (std::is_array_v<Module>)
    for (auto& each : module) initialize(each, generator);
  else
    initialize(module, generator);
}

// A static_assert diagnoses a layer whose weights are int8.
template <class Module>
consteval bool check_drawn() noexcept {
  constexpr bool floats = !requires(Module & module) { module.weight.row_size; };
  static_assert(floats,
                "weights are drawn as floats: initialize a layer whose weights are floats, then "
                "quantize it");
  return floats;
}

// A module that is initialized by initializing its members.
template <class Module>
concept composed = !std::is_const_v<Module> && !tensor_like<Module> &&
                   (has_parts<Module> || requires { typename Module::Members; });

}  // namespace detail

// Initializes the members of a layer or model, in the order of their declaration. Draws the weight,
// then the bias of each Linear, as torch.nn.Linear does; sets the weights of norms to 1, their
// biases to 0.
template <detail::composed Module, random_generator Generator>
constexpr void initialize(Module& module, Generator& generator) noexcept {
  if constexpr (detail::check_drawn<Module>())
    detail::members_of(module, [&](const auto&, auto&... members) {
      (detail::initialize_member(members, generator), ...);
    });
}

TINYATTN_DIAGNOSTIC(class First, initialize(const First&, ...),
                    "initialize takes (layer, generator), of which neither is const")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
