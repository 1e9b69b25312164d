// SPDX-License-Identifier: MIT
//
// Shared by the golden tests and by the values that PyTorch computed: a recorded case, inputs as PyTorch draws them, a tolerance.
#pragma once

#include "support/check.hpp"
#include "tinyattn/multi_head_attention.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tinyattn::reference {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

// A case of attention. Layer, x and the memory of keys and values are drawn from `seed`; if token counts are equal, the memory is x.
template <AttentionConfig its_config, std::size_t Tokens, std::size_t SourceTokens>
struct Recorded {
  static constexpr AttentionConfig config = its_config;
  static constexpr bool is_cross = Tokens != SourceTokens;

  const char* name;
  std::uint32_t seed;
  Matrix<float, Tokens, config.d_in> x;
  Tensor<float, config.num_heads, Tokens, SourceTokens> weights;
  Matrix<float, Tokens, config.d_out> output;
  Matrix<float, SourceTokens, config.d_in> memory = {};
};

template <const auto&... cases>
struct List {};

}  // namespace tinyattn::reference

namespace tinyattn::test {

inline constexpr float tolerance = 1e-6f;

// As torch.rand(...) * 2 - 1.
constexpr void draw(Mt19937& generator, auto& tensor) {
  for (float& element : tensor.elements) element = uniform(generator, -1.0f, 1.0f);
}

}  // namespace tinyattn::test
