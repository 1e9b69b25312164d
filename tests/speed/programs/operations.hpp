// SPDX-License-Identifier: MIT
//
// The measured operations: each of one shape, computed by this library, with operands aligned to cache lines as a careful caller aligns
// them. Peers compute with the same operands.
#pragma once

#include "tinyattn/linear.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/sampling.hpp"
#include "tinyattn/softmax.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>

namespace tinyattn::bench {

// Fills tensors with random numbers from -1 to 1, the same in every run; a matrix of int8 with any codes.
void fill(auto&... tensors) {
  const auto fill_one = [](auto& tensor) {
    Philox4x32 generator(tensor.size());
    if constexpr (requires { tensor.elements; }) {
      for (float& element : tensor.elements) element = uniform(generator, -1.0f, 1.0f);
    } else {
      for (auto& code : tensor.code) code = static_cast<unsigned char>(128.0f + uniform(generator, -127.0f, 127.0f));
      for (float& scale : tensor.scale) scale = uniform(generator, 0.001f, 0.008f);
    }
  };
  (fill_one(tensors), ...);
}

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
struct Matmul {
  alignas(64) Matrix<float, Rows, Inner> a;
  alignas(64) Matrix<float, Inner, Cols> b;
  alignas(64) Matrix<float, Rows, Cols> out;

  void prepare() { fill(a, b); }
  void compute() { matmul(a, b, out); }
};

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
struct Transposed {
  alignas(64) Matrix<float, Rows, Inner> a;
  alignas(64) Matrix<float, Cols, Inner> b;
  alignas(64) Matrix<float, Rows, Cols> out;

  void prepare() { fill(a, b); }
  void compute() { matmul_transposed(a, b, out); }
};

#ifdef TINYATTN_BENCH_WEIGHTS
#define TINYATTN_BENCH_LINEAR(inner, cols) tinyattn::Linear<inner, cols, true, Weights::TINYATTN_BENCH_WEIGHTS>
#else
#define TINYATTN_BENCH_LINEAR(inner, cols) tinyattn::Linear<inner, cols>
#endif
template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
struct Linear {
  alignas(64) TINYATTN_BENCH_LINEAR(Inner, Cols) layer;
  alignas(64) Matrix<float, Rows, Inner> x;
  alignas(64) Matrix<float, Rows, Cols> out;

  void prepare() { fill(layer.weight, layer.bias, x); }
  void compute() { layer.forward(x, out); }
};

template <std::size_t Rows, std::size_t Cols>
struct Softmax {
  alignas(64) Matrix<float, Rows, Cols> scores;
  alignas(64) Matrix<float, Rows, Cols> out;

  void prepare() { fill(scores); }
  void compute() { softmax(scores, out); }
};

// A token drawn from logits.
template <std::size_t Vocabulary>
struct Draw {
  Vector<float, Vocabulary> logits;
  Philox4x32 generator{Vocabulary};
  tinyattn::Token token;

  void prepare() {
    for (float& logit : logits.elements) logit = uniform(generator, -8.0f, 8.0f);
  }
  void compute() { token = sample(logits, {.top_k = 40, .top_p = 0.9f}, generator); }
};

constexpr AttentionConfig measured_attention(AttentionConfig config) {
#ifdef TINYATTN_BENCH_WEIGHTS
  config.weights = Weights::TINYATTN_BENCH_WEIGHTS;
#endif
#ifdef TINYATTN_BENCH_CACHE
  config.cache = Weights::TINYATTN_BENCH_CACHE;
#endif
  return config;
}

// A whole layer: input projections without bias, causal attention in split heads, an output projection with bias.
template <std::size_t Tokens, std::size_t DIn, std::size_t DOut, std::size_t NumHeads>
struct Attention {
  static constexpr std::size_t tokens = Tokens;
  static constexpr std::size_t d_out = DOut;
  static constexpr std::size_t head_dim = DOut / NumHeads;
  static constexpr AttentionConfig config = {.d_in = DIn, .d_out = DOut, .context_length = Tokens, .num_heads = NumHeads};
  using Layer = MultiHeadAttention<measured_attention(config)>;

  alignas(64) Layer layer;
  alignas(64) Matrix<float, Tokens, DIn> x;
  alignas(64) Matrix<float, Tokens, DOut> out;
  alignas(64) static inline typename Layer::Workspace workspace;

  void prepare() { fill(layer.query.weight, layer.key.weight, layer.value.weight, layer.out_proj.weight, layer.out_proj.bias, x); }
  void compute() { layer.forward(x, out, workspace); }
};

// No operation: measures the cost of a call.
template <std::size_t>
struct Nothing {
  void prepare() {}
  void compute() {}
};

}  // namespace tinyattn::bench
