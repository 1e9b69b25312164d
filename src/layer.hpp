// SPDX-License-Identifier: MIT
//
// An attention layer whose shape is known at run time, on the port of this unit: keys and values of all heads, then block after block of
// queries, their contexts and outputs. As kernel/heads.hpp does it for shapes that the compiler knows.
#pragma once

#include "single_calls.hpp"
#include "tinyattn/kernel/transpose.hpp"

#include <cstddef>

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::library {

// TINYATTN_LAYER_SCRATCH, in parts.
struct Scratch {
  Output keys;    // transposed: [d_out, source_tokens]
  Output values;  // [source_tokens, d_out]
  Output scores;  // a few rows of [source_tokens]
  Output block;   // a block of rows of [d_out]: queries, which their contexts overwrite
};

inline Scratch parts_of_scratch(const compiled::LayerCall& call) noexcept {
  const std::size_t width = call.layer->d_out, row_size = TINYATTN_PADDED(call.source_tokens);
  float* const values = call.scratch + width * row_size;
  float* const scores = values + call.source_tokens * width;
  float* const block = scores + TINYATTN_ATTENTION_SCRATCH(call.tokens, call.source_tokens);
  return {{call.scratch, row_size}, {values, width}, {scores, row_size}, {block, width}};
}

// out = x . weight + bias, for `rows` rows of x.
inline void project(std::size_t rows, std::size_t in, std::size_t out_cols, const float* x, const tinyattn_linear& linear,
                    const Output& out) noexcept {
  const Input input{x, in}, weight{linear.weight, out_cols};
  if (linear.bias != nullptr)
    kernel::matmul<native_port>(kernel::Product{rows, Inner{in}, out_cols, input, weight, kernel::Bias{linear.bias}, out});
  else
    kernel::matmul<native_port>(kernel::Product{rows, Inner{in}, out_cols, input, weight, kernel::Zero{}, out});
}

// Keys are projected to where the values will stand, and transposed, so that the scores of a block are products with rows.
inline void project_source(const compiled::LayerCall& call, const Scratch& scratch) noexcept {
  const tinyattn_layer& layer = *call.layer;
  kernel::for_each_block<native_port::block_rows>(call.source_tokens, [&](std::size_t first, std::size_t rows) {
    project(rows, layer.d_in, layer.d_out, call.key_input + first * layer.d_in, layer.key, scratch.values);
    kernel::transpose<native_port>(rows, layer.d_out, scratch.values, scratch.keys.from(0, first));
  });
  project(call.source_tokens, layer.d_in, layer.d_out, call.value_input, layer.value, scratch.values);
}

// The contexts of the head whose first column is `column`, for the block of queries that starts at query `first`.
inline void attend_head(const compiled::LayerCall& call, const Scratch& scratch, std::size_t column, std::size_t first,
                        std::size_t block_rows, const Output& context, const auto& visible) noexcept {
  const std::size_t head_dim = call.layer->d_out / call.layer->num_heads;
  kernel::for_each_block<native_port::query_rows>(block_rows, [&](std::size_t i, std::size_t rows) {
    kernel::attend<native_port>(rows, Inner{head_dim}, head_dim, scratch.block.from(i, column), scratch.keys.from(column, 0),
                                scratch.values.from(0, column), scratch.scores, context.from(i, column), call.scale,
                                kernel::see_from(visible, first + i), kernel::IgnoreWeights{});
  });
}

inline void attend_blocks(const compiled::LayerCall& call, const Scratch& scratch, const auto& visible) noexcept {
  const tinyattn_layer& layer = *call.layer;
  const bool has_output = layer.out_proj.weight != nullptr;
  kernel::for_each_block<native_port::block_rows>(call.tokens, [&](std::size_t first, std::size_t rows) {
    const Output out{call.out + first * layer.d_out, layer.d_out};
    project(rows, layer.d_in, layer.d_out, call.query_input + first * layer.d_in, layer.query, scratch.block);
    for (std::size_t column = 0; column < layer.d_out; column += layer.d_out / layer.num_heads)
      attend_head(call, scratch, column, first, rows, has_output ? scratch.block : out, visible);
    if (has_output) project(rows, layer.d_out, layer.d_out, scratch.block.data, layer.out_proj, out);
  });
}

// Apart, since a firmware that has no masks should not carry them.
inline void forward(const compiled::LayerCall& call) noexcept {
  const Scratch scratch = parts_of_scratch(call);
  project_source(call, scratch);
  attend_blocks(call, scratch, earlier(TINYATTN_NO_MASK, call.layer->causal, call.tokens, call.source_tokens));
}

inline void masked_forward(const compiled::LayerCall& call) noexcept {
  const Scratch scratch = parts_of_scratch(call);
  project_source(call, scratch);
  with_visible(*call.mask, call.layer->causal, call.tokens, call.source_tokens,
               [&](const auto& visible) { attend_blocks(call, scratch, visible); });
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::library
