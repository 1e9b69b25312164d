// SPDX-License-Identifier: MIT
//
// A block of a transformer: attention, perhaps attention to a source, and a feed-forward part, each
// with a norm and a residual.
#pragma once

#include "tinyattn/kernel/cache.hpp"
#include "tinyattn/kernel/feed_forward.hpp"
#include "tinyattn/kernel/normalization.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

template <class Attention, class FeedForward>
struct Block {
  Norm attention_norm;
  Attention attention;  // a Layer or a GroupedLayer
  Norm feed_forward_norm;
  FeedForward feed_forward;
  bool norm_first;
};

// A block that computes both parts from x: x + attention(norm(x)) + feed_forward(norm(x)).
template <class Plain>
struct ParallelBlock : Plain {
  static constexpr bool is_parallel = true;
};
// A block that attends to a source between its parts.
template <class Plain, class CrossAttention>
struct DecoderBlock : Plain {
  Norm cross_attention_norm;
  CrossAttention cross_attention;
};
template <class Plain, class CrossAttention>
DecoderBlock(Plain, Norm, CrossAttention) -> DecoderBlock<Plain, CrossAttention>;

// The number of rows for which the feed-forward part is computed at a time.
template <class Port>
inline constexpr std::size_t feed_forward_rows = minimum(Port::block_rows, TINYATTN_QUERY_ROWS(16));

// A part of a block computes x += part(norm(x)) if norm_first, else x = norm(x + part(x)). Returns
// the input of the part: x itself, or its norm, which is written to `part_of`.
template <class Port>
TINYATTN_KERNEL Dense input_of_part(const Norm& norm, bool norm_first, std::size_t rows, Output x,
                                    Output part_of) noexcept {
  if (!norm_first) return x;
  normalize_features<Port>(norm, rows, x, part_of);
  return part_of;
}
template <class Port>
TINYATTN_KERNEL void add_residual(const Norm& norm, bool norm_first, std::size_t rows, Output x,
                                  Output part_of) noexcept {
  for (std::size_t i = 0; i < rows; ++i)
    add_rows<Port>(x.at(i, 0), part_of.at(i, 0), x.at(i, 0), norm.dim);
  if (!norm_first) normalize_features<Port>(norm, rows, x, x);
}

// Applies the feed-forward part to all rows of x, `most_rows` at a time, for which there is
// scratch.
template <class Port>
TINYATTN_KERNEL void add_feed_forward(const auto& block, std::size_t tokens, std::size_t most_rows,
                                      Output x, Output part_of, float* hidden,
                                      const auto& integers) noexcept {
  for (std::size_t first = 0; first < tokens; first += most_rows) {
    const std::size_t rows = minimum(most_rows, tokens - first);
    const Output features = x.from(first, 0);
    const Dense input =
        input_of_part<Port>(block.feed_forward_norm, block.norm_first, rows, features, part_of);
    feed_forward<Port>(block.feed_forward, rows, input, part_of, hidden, integers);
    add_residual<Port>(block.feed_forward_norm, block.norm_first, rows, features, part_of);
  }
}

// Adds attention, which part_of has, and the feed-forward part of x to x: the sum waits in part_of,
// while the memory of x has the norm and what is computed from it.
template <class Port>
TINYATTN_KERNEL void add_both_parts(const auto& block, std::size_t tokens, std::size_t most_rows,
                                    Output x, Output part_of, float* hidden,
                                    const auto& integers) noexcept {
  const Norm& norm = block.feed_forward_norm;
  for (std::size_t first = 0; first < tokens; first += most_rows) {
    const std::size_t rows = minimum(most_rows, tokens - first);
    const Output features = x.from(first, 0), sum = part_of.from(first, 0);
    for (std::size_t i = 0; i < rows; ++i)
      add_rows<Port>(sum.at(i, 0), features.at(i, 0), sum.at(i, 0), norm.dim);
    normalize_features<Port>(norm, rows, features, features);
    feed_forward<Port>(block.feed_forward, rows, features, features, hidden, integers);
    for (std::size_t i = 0; i < rows; ++i)
      add_rows<Port>(features.at(i, 0), sum.at(i, 0), features.at(i, 0), norm.dim);
  }
}

// Adds attention, which part_of has, then what `between` adds, then the feed-forward part to x.
template <class Port>
TINYATTN_KERNEL void add_parts(const auto& block, std::size_t tokens, std::size_t most_rows,
                               Output x, Output part_of, float* hidden, const auto& integers,
                               const auto& between) noexcept {
  if constexpr (requires { block.is_parallel; }) {
    add_both_parts<Port>(block, tokens, most_rows, x, part_of, hidden, integers);
  } else {
    add_residual<Port>(block.attention_norm, block.norm_first, tokens, x, part_of);
    between();
    add_feed_forward<Port>(block, tokens, most_rows, x, part_of, hidden, integers);
  }
}

// Scratch of a block: the output of a part, and the scratch of attention and of the feed-forward
// part, which share memory.
template <class Attention = Scratch<>>
struct BlockScratch {
  Output part_of;  // [tokens, d_model]
  Attention attention;
  float* hidden;  // has room for hidden_rows rows
  std::size_t hidden_rows;
};
template <class Attention>
BlockScratch(Output, Attention, float*, std::size_t) -> BlockScratch<Attention>;
template <class Plain, class CrossAttention>
struct DecoderBlockScratch : Plain {
  CrossAttention cross_attention;  // shares its memory
};
template <class Plain, class CrossAttention>
DecoderBlockScratch(Plain, CrossAttention) -> DecoderBlockScratch<Plain, CrossAttention>;

// --- A source, such as the output of an encoder ---

// Its tokens.
struct Source {
  std::size_t tokens;
  Dense memory;  // [tokens, d_key of cross-attention]
};
// The cache of a text, of which the keys and values of a source are part.
template <class Text, class OfSource>
struct CachedWithSource : Text {
  OfSource source;
  std::size_t source_tokens;
};
template <class Text, class OfSource>
CachedWithSource(Text, OfSource, std::size_t) -> CachedWithSource<Text, OfSource>;

// Stores the keys and values of a source, at most scratch.rows tokens at a time.
template <class Port>
TINYATTN_KERNEL void cache_source(const auto& layer, const auto& cache, const auto& scratch,
                                  std::size_t tokens, Dense memory) noexcept {
  const Output keys{scratch.floats, kv_width(layer)};
  for (std::size_t first = 0; first < tokens; first += scratch.rows) {
    const std::size_t rows = minimum(scratch.rows, tokens - first);
    const auto input =
        input_of<Port>(layer.key, rows, key_inputs(layer), memory.from(first, 0), scratch.integers);
    project_few<Port>(rows, key_inputs(layer), kv_width(layer), input, layer.key, keys);
    store_keys<Port>(layer, cache, first, rows, keys);
    store_values<Port>(layer, cache, first, rows, input, keys);
  }
}

// Computes the attention of one token to the cached tokens of a source: it sees what the last of
// them would see.
template <class Port>
TINYATTN_KERNEL void attend_to_cached(const auto& layer, const auto& cache, const auto& scratch,
                                      std::size_t source_tokens, Dense x, Output out) noexcept {
  const auto project_one = [&](const auto& to, std::size_t in, Dense from, Output result) {
    project_few<Port>(1, in, layer.d_out, input_of<Port>(to, 1, in, from, scratch.integers), to,
                      result);
  };
  const Output queries{scratch.floats, layer.d_out};
  const bool has_output = !is_null(layer.output.weight);
  project_one(layer.query, layer.d_in, x, queries);
  attend_heads<Port>(layer, cache, scratch, source_tokens - 1, 1, queries,
                     has_output ? queries : out);
  if (has_output) project_one(layer.output, layer.d_out, queries, out);
}

// Adds the attention of `rows` tokens to a source to x.
template <class Port>
TINYATTN_KERNEL void add_source(const auto& block, const auto& scratch, std::size_t rows, Output x,
                                const auto& source, const auto&... mask) noexcept {
  const auto& layer = block.cross_attention;
  const Output out = scratch.part_of;
  const Dense input =
      input_of_part<Port>(block.cross_attention_norm, block.norm_first, rows, x, out);
  if constexpr (requires { source.memory; })
    forward<Port, CallShape{}>(
        layer, scratch.cross_attention,
        BatchElement{0, rows, source.tokens, input, source.memory, source.memory, out}, mask...,
        IgnoreWeights{});
  else
    for (std::size_t i = 0; i < rows; ++i)
      attend_to_cached<Port>(layer, source.source, scratch.attention, source.source_tokens,
                             input.from(i, 0), out.from(i, 0));
  add_residual<Port>(block.cross_attention_norm, block.norm_first, rows, x, out);
}

// --- Blocks ---

// x = block(x) for all tokens of one batch element, which may attend to a Source.
template <class Port>
TINYATTN_KERNEL void forward_block(const auto& block, const auto& scratch, std::size_t tokens,
                                   Output x, const auto& mask, const auto&... source) noexcept {
  const Dense input =
      input_of_part<Port>(block.attention_norm, block.norm_first, tokens, x, scratch.part_of);
  const BatchElement element{0, tokens, tokens, input, input, input, scratch.part_of};
  forward<Port, CallShape{}>(block.attention, scratch.attention, element, mask, IgnoreWeights{});
  add_parts<Port>(block, tokens, scratch.hidden_rows, x, scratch.part_of, scratch.hidden,
                  scratch.attention.integers, [&]() TINYATTN_INLINE_LAMBDA {
                    if constexpr (sizeof...(source) != 0)
                      add_source<Port>(block, scratch, tokens, x, source...);
                  });
}

template <class Integers = NoScratch>
struct CachedBlockScratch {
  Output part_of;                     // [rows, d_model]
  CachedScratch<Integers> attention;  // its floats are those of the feed-forward part, too
};

// Returns how many floats the scratch above has for `rows` tokens at a time.
constexpr std::size_t cached_block_scratch(std::size_t rows, std::size_t d_model,
                                           std::size_t d_hidden, bool is_gated, std::size_t scores,
                                           std::size_t width_of_heads) noexcept {
  return rows * d_model + maximum(cached_scratch(rows, width_of_heads, scores),
                                  hidden_scratch(rows, d_hidden, is_gated));
}
template <class Integers = NoScratch>
TINYATTN_KERNEL CachedBlockScratch<Integers> cached_block_parts(float* scratch, std::size_t rows,
                                                                std::size_t d_model,
                                                                Integers integers = {}) noexcept {
  return {{scratch, d_model}, {rows, scratch + rows * d_model, integers}};
}

// x = block(x) for `rows` tokens after the `past` ones of the cache, which may have a source.
template <class Port>
TINYATTN_KERNEL void forward_block_cached(const auto& block, const auto& cache, const auto& scratch,
                                          std::size_t past, std::size_t rows, Output x) noexcept {
  const Dense input =
      input_of_part<Port>(block.attention_norm, block.norm_first, rows, x, scratch.part_of);
  forward_cached<Port>(block.attention, cache, scratch.attention, past, rows, input,
                       scratch.part_of);
  add_parts<Port>(block, rows, rows, x, scratch.part_of, scratch.attention.floats,
                  scratch.attention.integers, [&]() TINYATTN_INLINE_LAMBDA {
                    if constexpr (requires { cache.source; })
                      add_source<Port>(block, scratch, rows, x, cache);
                  });
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
