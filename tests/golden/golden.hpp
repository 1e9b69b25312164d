// SPDX-License-Identifier: MIT
//
// Shared by the golden tests: the values that PyTorch computed, tolerances, and modules drawn from a seed.
#pragma once

#include <cstdint>

#include "reference/tables.hpp"
#include "support/check.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/random.hpp"

namespace tinyattn::test {

inline constexpr float tolerance = 1e-6f;

// "Your journey starts with one step": six tokens of three features.
constexpr auto inputs() { return opaque(reference::inputs); }

template <class Module>
constexpr Module drawn(Mt19937& generator) {
  Module module{};
  initialize(module, generator);
  return module;
}

template <class Module>
constexpr Module drawn(std::uint32_t seed) {
  Mt19937 generator(opaque(seed));
  return drawn<Module>(generator);
}

// 1 / sqrt(d_k) for the two features of a key in the worked example.
inline constexpr float scale = 1.0f / tinyattn::sqrt(2.0f);

}  // namespace tinyattn::test
