// SPDX-License-Identifier: MIT
//
// The initial weights of a module, drawn as PyTorch draws them.
#pragma once

#include "tinyattn/kernel/random.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/random.hpp"

#include <cstddef>
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

// Draws the weights of one output after the other, [out, in, positions] in PyTorch's layout,
// uniform from -1 / sqrt(Inputs) to 1 / sqrt(Inputs): a weight here is [positions * in, out]. Or a
// bias.
template <std::size_t Inputs, std::size_t Positions = 1>
constexpr void draw_uniform(auto& weight, auto& generator) noexcept {
  using Layout = LayoutOf<decltype(weight)>;
  constexpr float bound = inverse_sqrt<Inputs>;
  constexpr std::size_t out = Layout::cols, in = Layout::rows / Positions;
  auto numbers = random_stream(generator);
  for (std::size_t o = 0; o < out; ++o)
    for (std::size_t c = 0; c < in; ++c)
      for (std::size_t k = 0; k < Positions; ++k)
        weight.elements[(k * in + c) * out + o] =
            kernel::uniform_from(numbers.next(), -bound, bound);
}

// A static_assert diagnoses a layer whose weights are int8, or with bias_kv.
template <class Module>
consteval bool check_drawn() noexcept {
  constexpr bool floats = !requires(Module & module) { module.weight.row_size; };
  constexpr bool drawn = !requires(Module & module) { module.bias_kv.key; };
  static_assert(drawn, "a layer with bias_kv has no initial values: it is not trained here");
  static_assert(floats,
                "weights are drawn as floats: initialize a layer whose weights are floats, then "
                "quantize it");
  return floats && drawn;
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
