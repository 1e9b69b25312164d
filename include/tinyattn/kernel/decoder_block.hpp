// SPDX-License-Identifier: MIT
//
// A block of a decoder that reads a source: attention, attention to the tokens of the source, and a
// feed-forward part, each with a norm and a residual.
#pragma once

#include "tinyattn/kernel/block.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

template <class Attention, class CrossAttention, class FeedForward>
struct DecoderBlock : Block<Attention, FeedForward> {
  Norm cross_attention_norm;
  CrossAttention cross_attention;
};
template <class Attention, class FeedForward, class CrossAttention>
DecoderBlock(Block<Attention, FeedForward>, Norm, CrossAttention)
    -> DecoderBlock<Attention, CrossAttention, FeedForward>;

template <class Attention, class CrossAttention>
struct DecoderBlockScratch : BlockScratch<Attention> {
  CrossAttention cross_attention;  // shares its memory
};
template <class Attention, class CrossAttention>
DecoderBlockScratch(BlockScratch<Attention>, CrossAttention)
    -> DecoderBlockScratch<Attention, CrossAttention>;

// The tokens of a source, such as the output of an encoder.
struct Source {
  std::size_t tokens;
  Dense memory;  // [tokens, d_key of cross-attention]
};

// Adds a part of a block to x: calls part(input, part_of).
template <class Port>
TINYATTN_KERNEL void add_part(const Norm& norm, bool norm_first, std::size_t rows, Output x,
                              Output part_of, const auto& part) noexcept {
  part(input_of_part<Port>(norm, norm_first, rows, x, part_of), part_of);
  add_residual<Port>(norm, norm_first, rows, x, part_of);
}

// x = block(x) for all tokens of one batch element.
template <class Port>
TINYATTN_KERNEL void forward_decoder_block(const auto& block, const auto& scratch,
                                           std::size_t tokens, Output x, const auto& mask,
                                           const Source& source, const auto& source_mask) noexcept {
  const auto attend_to = [&](const auto& layer, const auto& of_layer, const BatchElement& element,
                             const auto& layer_mask) TINYATTN_INLINE_LAMBDA {
    forward<Port, CallShape{}>(layer, of_layer, element, layer_mask, IgnoreWeights{});
  };
  add_part<Port>(
      block.attention_norm, block.norm_first, tokens, x, scratch.part_of,
      [&](Dense in, Output out) TINYATTN_INLINE_LAMBDA {
        attend_to(block.attention, scratch.attention, {0, tokens, tokens, in, in, in, out}, mask);
      });
  add_part<Port>(block.cross_attention_norm, block.norm_first, tokens, x, scratch.part_of,
                 [&](Dense in, Output out) TINYATTN_INLINE_LAMBDA {
                   attend_to(block.cross_attention, scratch.cross_attention,
                             {0, tokens, source.tokens, in, source.memory, source.memory, out},
                             source_mask);
                 });
  add_feed_forward<Port>(block, tokens, scratch.hidden_rows, x, scratch.part_of, scratch.hidden,
                         scratch.attention.integers);
}

// Stores the keys and values of a source, at most scratch.rows tokens at a time.
template <class Port>
TINYATTN_KERNEL void cache_source(const auto& layer, const auto& cache, const auto& scratch,
                                  const Source& source) noexcept {
  const Output keys{scratch.floats, kv_width(layer)};
  for (std::size_t first = 0; first < source.tokens; first += scratch.rows) {
    const std::size_t rows = minimum(scratch.rows, source.tokens - first);
    const auto input = input_of<Port>(layer.key, rows, key_inputs(layer),
                                      source.memory.from(first, 0), scratch.integers);
    project_few<Port>(rows, key_inputs(layer), kv_width(layer), input, layer.key, keys);
    store_keys<Port>(layer, cache, first, rows, keys);
    store_values<Port>(layer, cache, first, rows, input, keys);
  }
}

// Computes the attention of one token to the cached tokens of a source: it sees what the last of
// them would see.
template <class Port>
TINYATTN_KERNEL void attend_to_source(const auto& layer, const auto& cache, const auto& scratch,
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

// x = block(x) for `rows` tokens after the `past` ones of the cache.
template <class Port>
TINYATTN_KERNEL void forward_decoder_block_cached(const auto& block, const auto& cache,
                                                  const auto& source, const auto& scratch,
                                                  std::size_t past, std::size_t source_tokens,
                                                  std::size_t rows, Output x) noexcept {
  add_part<Port>(block.attention_norm, block.norm_first, rows, x, scratch.part_of,
                 [&](Dense in, Output out) TINYATTN_INLINE_LAMBDA {
                   forward_cached<Port>(block.attention, cache, scratch.attention, past, rows, in,
                                        out);
                 });
  add_part<Port>(block.cross_attention_norm, block.norm_first, rows, x, scratch.part_of,
                 [&](Dense in, Output out) TINYATTN_INLINE_LAMBDA {
                   for (std::size_t i = 0; i < rows; ++i)
                     attend_to_source<Port>(block.cross_attention, source, scratch.attention,
                                            source_tokens, in.from(i, 0), out.from(i, 0));
                 });
  add_feed_forward<Port>(block, rows, rows, x, scratch.part_of, scratch.attention.floats,
                         scratch.attention.integers);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
