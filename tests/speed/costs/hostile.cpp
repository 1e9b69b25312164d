// SPDX-License-Identifier: MIT
//
// Makes the call with input after input, each between the two functions that tests/speed/cycles/counter.cpp recognizes: if a call's path
// depended on its data, it would on some of these. Weights are random.
#include "filled.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

using namespace tinyattn;
using namespace tinyattn::footprint;

namespace {

using Limits = std::numeric_limits<float>;

constexpr float alternating(std::size_t i, float x) { return i % 2 == 0 ? x : -x; }

float of_any_size(std::size_t) {
  static Philox4x32 generator(123);
  const auto exponent = static_cast<std::uint32_t>(uniform(generator, 1.0f, 254.0f));
  return uniform(generator, -1.0f, 1.0f) * std::bit_cast<float>(exponent << 23);
}

constexpr float (*inputs[])(std::size_t) = {
    [](std::size_t) { return 0.0f; },
    [](std::size_t) { return -0.0f; },
    [](std::size_t) { return 1.0f; },
    [](std::size_t i) { return static_cast<float>(i); },  // rising: each is a new maximum
    [](std::size_t i) { return -static_cast<float>(i); },
    [](std::size_t i) { return i % 7 == 3 ? 1e4f : 0.0f; },  // one of seven is large
    [](std::size_t i) { return alternating(i, Limits::denorm_min()); },
    [](std::size_t i) { return alternating(i, Limits::max()); },
    [](std::size_t i) { return alternating(i, Limits::infinity()); },
    [](std::size_t) { return Limits::quiet_NaN(); },
    of_any_size,
    of_any_size,
};

template <class Operand>
concept is_tensor = requires(Operand& operand) {
  operand.elements;
};
template <class Operand>
concept is_mask = requires(Operand& operand) {
  operand.tensor;
};

// Clears what a call keeps, so that each input finds the same memory; a recurrent state and gradients are inputs.
void fill_memory(auto& workspace, auto& next) {
  static_assert(std::is_trivially_copyable_v<Workspace>);
  std::memset(static_cast<void*>(&workspace), 0, sizeof workspace);
  if constexpr (requires { workspace.state; }) fill(workspace.state, next);
  if constexpr (requires { workspace.output_gradient; }) {
    fill(workspace.output_gradient, next);
    fill(workspace.gradient, next);
  }
}

void call(const footprint::Layer& layer, const Input& x, Output& out, Workspace& workspace) {
  for (std::size_t i = 0; i < Measured::calls_before; ++i) Measured::call(layer, x, out, workspace);
  count_begin();
  Measured::call(layer, x, out, workspace);
  count_end();
}

}  // namespace

// The firmware may call this several times.
void attend(const footprint::Layer& layer, const Input& x, Output& out, Workspace& workspace) noexcept {
  static bool is_done = false;
  if (std::exchange(is_done, true)) return;
  for (const auto next : inputs) {
    Usual usual;
    if constexpr (is_tensor<footprint::Layer> || is_mask<footprint::Layer>)
      fill(variable(layer), next);
    else if constexpr (!std::is_const_v<decltype(Measured::measured)>)
      fill(variable(layer), usual);
    fill(variable(x), next);
    fill_memory(workspace, next);
    call(layer, x, out, workspace);
  }
}
