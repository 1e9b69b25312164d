// SPDX-License-Identifier: MIT
//
// What a call of calls.hpp is given: numbers of a sequence next(0), next(1), ..., anew for each tensor.
#pragma once

#include "calls.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// tests/speed/cycles/counter.cpp counts what runs between these two.
extern "C" {
[[gnu::noinline]] inline void count_begin() { asm volatile(""); }
[[gnu::noinline]] inline void count_end() { asm volatile(""); }
}

namespace tinyattn::footprint {

// firmware.cpp has all operands as variables.
template <class Object>
Object& variable(const Object& object) {
  return const_cast<Object&>(object);
}

void fill_parameter(auto&, auto&) {}
template <std::size_t... Extents>
void fill_parameter(Tensor<float, Extents...>& tensor, auto& next) {
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor.elements[i] = next(i);
}
template <std::size_t... Extents>
void fill_parameter(Tensor<bool, Extents...>& tensor, auto& next) {
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor.elements[i] = next(i) > 0.0f;
}
template <std::size_t... Extents>
void fill_parameter(Tensor<Token, Extents...>& tokens, auto& next) {  // below 10, of which each vocabulary has more
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens.elements[i] = static_cast<Token>(std::bit_cast<std::uint32_t>(next(i)) % 10);
}
template <std::size_t In, std::size_t Out>
void fill_parameter(Int8Matrix<In, Out>& matrix, auto& next) {
  for (std::size_t i = 0; i < sizeof matrix.code; ++i)
    matrix.code[i] = i % matrix.row_size < In ? static_cast<std::uint8_t>(128.0f + 127.0f * next(i)) : 128;
  for (float& scale : matrix.scale) scale = 0.01f;
}

// Fills a tensor, a mask, or all parameters of a layer.
void fill(auto& object, auto& next) {
  if constexpr (requires { object.tensor; })
    fill_parameter(object.tensor, next);
  else if constexpr (requires { object.elements; } || std::is_empty_v<std::remove_cvref_t<decltype(object)>>)
    fill_parameter(object, next);
  else
    for_each_parameter(object, [&](const char*, auto& parameter) { fill_parameter(parameter, next); });
}

// Of [-1, 1), as weights are.
struct Usual {
  Philox4x32 generator{123};
  float operator()(std::size_t) { return uniform(generator, -1.0f, 1.0f); }
};

}  // namespace tinyattn::footprint
