// SPDX-License-Identifier: MIT
//
// Inputs for the compiled library: numbers that the optimizer cannot see, and masks with every kind of element.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plain.hpp"
#include "support/check.hpp"

namespace tinyattn::test {

template <class Shape>
Shape draw(std::uint32_t seed) {
  return hidden(numbers<Shape>(seed));
}

template <std::size_t... Extents>
Tensor<bool, Extents...> flags(std::uint32_t seed) {
  const auto drawn = draw<Tensor<float, Extents...>>(seed);
  Tensor<bool, Extents...> result{};
  for (std::size_t i = 0; i < result.size(); ++i) result.data()[i] = drawn.data()[i] < 0.2f;
  return result;
}

template <std::size_t... Extents>
Tensor<float, Extents...> addends(std::uint32_t seed) {
  auto result = draw<Tensor<float, Extents...>>(seed);
  for (std::size_t i = 0; i < result.size(); ++i)
    if (result.data()[i] < -0.5f) result.data()[i] = -infinity;
  return result;
}

}  // namespace tinyattn::test
