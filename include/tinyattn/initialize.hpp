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
  detail::members_of(module, [&](const auto&, auto&... members) {
    (detail::initialize_member(members, generator), ...);
  });
}

TINYATTN_DIAGNOSTIC(class First, initialize(const First&, ...),
                    "initialize takes (layer, generator), of which neither is const")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
