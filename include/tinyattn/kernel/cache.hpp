// SPDX-License-Identifier: MIT
//
// Attention with a cache of keys and values: each token is projected once, and attends to itself
// and to all before it.
#pragma once

#include "tinyattn/kernel/layer.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The keys and values of one layer.
struct Cached {
  Output keys;    // transposed: [kv_width, context_length]
  Output values;  // [context_length, kv_width]
};

// Returns how many floats a cache has: the keys of a layer, then its values. Scores are computed in
// whole vectors, and these may read beyond the last key, where there is a whole vector of values at
// least.
constexpr std::size_t cache_floats(std::size_t kv_width, std::size_t context_length) noexcept {
  const std::size_t each = kv_width * context_length;
  return each + (each < TINYATTN_LANES ? TINYATTN_LANES : each);
}
TINYATTN_KERNEL Cached cached(float* floats, std::size_t kv_width,
                              std::size_t context_length) noexcept {
  return {{floats, context_length}, {floats + kv_width * context_length, kv_width}};
}

// Scratch of a call with a cache, for `rows` tokens at a time.
template <class Integers = NoScratch>
struct CachedScratch {
  std::size_t rows;
  float* floats;  // [rows, d_out]: new keys, then queries, then contexts; and scores of a token
  [[no_unique_address]] Integers integers = {};  // `rows` rows of inputs, if weights are int8
};
constexpr std::size_t cached_scratch(std::size_t rows, std::size_t d_out,
                                     std::size_t scores) noexcept {
  return TINYATTN_PADDED(scores) + rows * d_out;
}

// Stores the keys of `rows` tokens in the rows of the cache from `first` on.
template <class Port>
TINYATTN_KERNEL void store_keys(const auto& layer, const Cached& cache, std::size_t first,
                                std::size_t rows, Output keys) noexcept {
  transpose<Port>(rows, kv_width(layer), keys, cache.keys.from(0, first));
}

// Computes their values from the input of the layer, and stores them.
template <class Port>
TINYATTN_KERNEL void store_values(const auto& layer, const Cached& cache, std::size_t first,
                                  std::size_t rows, const auto& x, Output) noexcept {
  project_few<Port>(rows, value_inputs(layer), kv_width(layer), x, layer.value,
                    cache.values.from(first, 0));
}

// Computes the context of one head for one query, which has `end` unmasked keys. Computes scores in
// whole vectors where the port has tiles of one row. Elsewhere an fma may branch on its operands,
// and keys after the end are uninitialized.
template <class Port>
TINYATTN_KERNEL void attend_token(const Attention& a, std::size_t end) noexcept {
  constexpr bool in_vectors = requires { Port::row_vectors; };
  const std::size_t cols = in_vectors ? padded<Port>(end) : end;
  const auto end_of = [=](std::size_t) { return end; };
  matmul_row<Port>({1, a.key_dim, cols, a.queries, a.keys, nullptr, a.scores});
  softmax_of_scores<Port>(1, a.scores, end_of, a.scale);
  matmul_row<Port>({1, end, a.value_dim, a.scores, a.values, nullptr, a.context});
}

// Does the same for the queries of all rows: one after the other, unless rows are interleaved.
template <class Port>
TINYATTN_KERNEL void attend_tokens(const Attention& all, const Mask& mask) noexcept {
  if constexpr (Port::interleaves_rows) {
    attend<Port>(all, mask, IgnoreWeights{});
  } else {
    for (std::size_t i = 0; i < all.rows; ++i) {
      Attention one = all;
      one.queries = all.queries.from(i, 0);
      one.context = all.context.from(i, 0);
      attend_token<Port>(one, all.first + i + 1);
    }
  }
}

// Computes the contexts of all heads for the queries of `rows` tokens, which `block` holds; they
// may overwrite these.
template <class Port>
TINYATTN_KERNEL void attend_heads(const auto& layer, const Cached& cache, const auto& scratch,
                                  std::size_t past, std::size_t rows, Output block,
                                  Output context) noexcept {
  const std::size_t width = layer.d_out, dim = layer.head_dim;
  // Scores follow the block. score_rows is the number of queries whose scores have room there.
  const Output scores{block.at(rows, 0), TINYATTN_PADDED(cache.keys.stride)};
  const std::size_t score_rows = 1 + (scratch.rows - rows) * width / scores.stride;
  // Where rows are interleaved, those heads of a single token that share keys are computed
  // together, like queries of several tokens that attend to the same keys.
  const bool share = Port::interleaves_rows && rows == 1;
  const std::size_t heads = share ? group(layer) : 1, stride = share ? dim : width;
  for (std::size_t head = 0; head < layer.num_heads; head += heads) {
    const std::size_t column = kv_column(layer, head);
    const Dense queries{block.at(0, head * dim), stride};
    const Output contexts{context.at(0, head * dim), stride};
    attend_tokens<Port>(
        {rows * heads, score_rows, dim, dim, past, head, queries, cache.keys.from(column, 0),
         cache.values.from(0, column), scores, contexts, layer.scale},
        {past + rows, 0});
  }
}

// Stores the keys and values of `rows` tokens, of which the first is at `position`, in the rows of
// the cache from `first` on, and computes their queries.
template <class Port>
TINYATTN_KERNEL void project_tokens(const auto& layer, const auto& cache, const auto& scratch,
                                    std::size_t first, std::size_t position, std::size_t rows,
                                    Dense x, Output queries) noexcept {
  const std::size_t width = kv_width(layer);
  const Output keys{queries.data, width};
  const auto input = input_of<Port>(layer.key, rows, layer.d_in, x, scratch.integers);
  project_few<Port>(rows, layer.d_in, width, input, layer.key, keys);
  place_keys<Port>(layer, rows, width, position, keys);
  store_keys<Port>(layer, cache, first, rows, keys);
  store_values<Port>(layer, cache, first, rows, input, keys);
  project_few<Port>(rows, layer.d_in, layer.d_out, input, layer.query, queries);
  place_queries<Port>(layer, rows, layer.d_out, position, queries);
}

// Computes the attention of the next `rows` tokens, at most scratch.rows, after the `past` ones of
// the cache. `out` may be x.
template <class Port>
TINYATTN_KERNEL void forward_cached(const auto& layer, const auto& cache, const auto& scratch,
                                    std::size_t past, std::size_t rows, Dense x,
                                    Output out) noexcept {
  const std::size_t width = layer.d_out;
  const Output block{scratch.floats, width};
  const bool has_output = !is_null(layer.output.weight);
  const Output context = has_output ? block : out;
  if constexpr (requires { cache.window; }) {
    attend_in_turn<Port>(layer, cache, scratch, past, rows, x, block, context);
  } else {
    project_tokens<Port>(layer, cache, scratch, past, past, rows, x, block);
    attend_heads<Port>(layer, cache, scratch, past, rows, block, context);
  }
  if (has_output)
    project_few<Port>(rows, width, out_width(layer),
                      input_of<Port>(layer.output, rows, width, context, scratch.integers),
                      layer.output, out);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
