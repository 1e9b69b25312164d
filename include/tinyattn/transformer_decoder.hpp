// SPDX-License-Identifier: MIT
//
// A decoder that reads a source, such as the output of an encoder.
#pragma once

#include "tinyattn/detail/decoder_calls.hpp"
#include "tinyattn/transformer.hpp"

#include <cstddef>

namespace tinyattn {

// The shape of a block: attention, attention to a source, and a feed-forward part, each with a norm
// and a residual, in the order that norm_first says, as in a BlockConfig.
struct DecoderBlockConfig {
  AttentionConfig attention;        // d_in and d_out must equal d_model
  AttentionConfig cross_attention;  // the same; context_length is that of the source; not causal
  FeedForwardConfig feed_forward;   // d_model is the width of the block
  Normalization normalization = Normalization::layer;  // of all norms
  bool norm_first = true;  // normalize the input of a part, not the sum after it
};

// The shape of a TransformerDecoder: blocks one after the other, and a norm after the last.
struct TransformerDecoderConfig {
  DecoderBlockConfig block;  // the configuration of every block
  std::size_t num_layers;    // number of blocks
  bool final_norm = true;    // a norm after the last block
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// A block of a TransformerDecoder, which runs it: as torch.nn.TransformerDecoderLayer.
template <DecoderBlockConfig config>
struct TransformerDecoderBlock {
  static_assert(detail::check_decoder_config<config>());

  using Attention = MultiHeadAttention<config.attention>;             // type of attention
  using CrossAttention = MultiHeadAttention<config.cross_attention>;  // type of cross_attention
  using Hidden = FeedForward<config.feed_forward>;                    // type of feed_forward
  // LayerNorm or RmsNorm, as config.normalization says.
  using Norm = detail::Norm<config.normalization, config.feed_forward.d_model>;

  Norm attention_norm;             // [d_model]
  Attention attention;             // d_in and d_out are d_model
  Norm cross_attention_norm;       // [d_model]
  CrossAttention cross_attention;  // queries of x, keys and values of memory
  Norm feed_forward_norm;          // [d_model]
  Hidden feed_forward;             // of d_model features

  TINYATTN_MODULE(TransformerDecoderBlock, attention_norm, attention, cross_attention_norm,
                  cross_attention, feed_forward_norm, feed_forward)

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(
      const TransformerDecoderBlock& block) noexcept {
    return kernel::DecoderBlock{
        kernel::Block<decltype(describe(block.attention)), decltype(describe(block.feed_forward))>{
            describe(block.attention_norm), describe(block.attention),
            describe(block.feed_forward_norm), describe(block.feed_forward), config.norm_first},
        describe(block.cross_attention_norm), describe(block.cross_attention)};
  }
};

// torch.nn.TransformerDecoder: in each of num_layers blocks x + attention(norm(x)), then x +
// cross_attention of norm(x) to memory, then x + feed_forward(norm(x)); or, without norm_first, the
// norm of each sum; and a norm after the last block. With one block and without that norm it is a
// torch.nn.TransformerDecoderLayer.
//
// In every form below x and out are [tokens, d_model] and memory [source tokens, d_model] or,
// except with a cache, batches; out may be x, but may not overlap memory.
template <TransformerDecoderConfig config>
struct TransformerDecoder {
  static_assert(config.num_layers != 0, "num_layers must not be zero");

  using Block = TransformerDecoderBlock<config.block>;  // type of a block
  using Norm = typename Block::Norm;  // type of the final norm, and of those in blocks

  static constexpr std::size_t num_blocks = config.num_layers;  // in `blocks`

  Block blocks[config.num_layers];  // in the order in which they are applied
  // [d_model]
  [[no_unique_address]] detail::Optional<config.final_norm, Norm> final_norm{};

  // All the scratch of a call, for one block at a time. Nothing is kept between calls.
  struct Workspace : detail::DecoderWorkspace<config.block, Block> {};

  // The keys and values of a source, and those of the tokens so far, of all blocks. size() is the
  // number of tokens without those of the source, clear() removes them, and has_room(count) says
  // whether there is room for more.
  struct Cache
      : detail::CachesOfBlocks<detail::DecoderBlockCache<config.block>, config.num_layers> {
    // All the scratch of a call with the cache.
    struct Workspace : detail::DecoderCachedWorkspace<config.block> {};
  };

  // Fills a cache with the keys and values of a source, and removes the tokens of the text. If
  // there are more source tokens than memory has, or than context_length of cross_attention, leaves
  // the cache as it is and returns too_many_tokens, else ok.
  template <tensor_like Memory, class OwnCache, class OwnWorkspace>
  requires detail::cache_of<OwnCache, OwnWorkspace, TransformerDecoder>
  constexpr Status begin(const Memory& memory, detail::count_like auto num_source_tokens,
                         OwnCache& cache, OwnWorkspace& workspace) const noexcept {
    return detail::begin_decoder<config.block>(
        *this, memory, static_cast<std::size_t>(num_source_tokens), cache, workspace);
  }
  // The same for all rows of memory.
  template <tensor_like Memory, class OwnCache, class OwnWorkspace>
  requires detail::cache_of<OwnCache, OwnWorkspace, TransformerDecoder>
  constexpr Status begin(const Memory& memory, OwnCache& cache,
                         OwnWorkspace& workspace) const noexcept {
    return begin(memory, detail::LayoutOf<Memory>::rows, cache, workspace);
  }

  TINYATTN_DIAGNOSTIC(class First = detail::Anything, begin(const First&, ...) const,
                      "begin takes (memory, cache, workspace), with a number of tokens after "
                      "memory: a Cache and its Workspace, of a causal decoder")

  // Applies the decoder to x and memory, with masks of text and source: [tokens, tokens] or
  // [tokens], in addition to config.block.attention.causal, and [tokens, source tokens] or [source
  // tokens]. NoMask{} masks nothing.
  template <tensor_like TensorX, tensor_like Memory, tensor_like Out>
  constexpr void forward(const TensorX& x, const Memory& memory, const detail::mask_type auto& mask,
                         const detail::mask_type auto& memory_mask, Out& out,
                         Workspace& workspace) const noexcept {
    static_cast<void>(detail::forward_decoder<config.block, false>(
        *this, x, memory, detail::LayoutOf<TensorX>::rows, detail::LayoutOf<Memory>::rows, mask,
        memory_mask, out, workspace));
  }
  // Without masks.
  constexpr void forward(const tensor_like auto& x, const tensor_like auto& memory,
                         tensor_like auto& out, Workspace& workspace) const noexcept {
    forward(x, memory, NoMask{}, NoMask{}, out, workspace);
  }
  // Of the first rows of x and of memory, of which there may be 0. Other rows of `out` stay as they
  // are. If there are too many, writes nothing and returns too_many_tokens, else ok.
  constexpr Status forward(const tensor_like auto& x, const tensor_like auto& memory,
                           detail::count_like auto num_tokens,
                           detail::count_like auto num_source_tokens, tensor_like auto& out,
                           Workspace& workspace) const noexcept {
    return detail::forward_decoder<config.block, true>(
        *this, x, memory, static_cast<std::size_t>(num_tokens),
        static_cast<std::size_t>(num_source_tokens), NoMask{}, NoMask{}, out, workspace);
  }

  // With a cache that begin() filled: the first rows of x follow the tokens of the cache, and are
  // added to it. The bits are those of one call with all tokens and memory, however a text is
  // divided. If the cache has no room for all of them, cache and `out` stay as they are, and
  // too_many_tokens is returned.
  template <class OwnCache, class OwnWorkspace>
  requires detail::cache_of<OwnCache, OwnWorkspace, TransformerDecoder>
  constexpr Status forward(const tensor_like auto& x, detail::count_like auto num_tokens,
                           OwnCache& cache, tensor_like auto& out,
                           OwnWorkspace& workspace) const noexcept {
    return detail::forward_cached_blocks<config.block>(*this, static_cast<std::size_t>(num_tokens),
                                                       x, cache, out, workspace);
  }
  // The same for all rows of x.
  template <tensor_like TensorX, class OwnCache, class OwnWorkspace>
  requires detail::cache_of<OwnCache, OwnWorkspace, TransformerDecoder>
  constexpr Status forward(const TensorX& x, OwnCache& cache, tensor_like auto& out,
                           OwnWorkspace& workspace) const noexcept {
    return forward(x, detail::LayoutOf<TensorX>::rows, cache, out, workspace);
  }

  TINYATTN_DIAGNOSTIC(
      class First = detail::Anything, forward(const First&, ...) const,
      "forward takes (x, memory, out, workspace), with two numbers of tokens or two masks after "
      "memory, or (x, cache, out, workspace) with a Cache and its Workspace; out is a tensor or a "
      "MatrixView, neither const nor a temporary")

  TINYATTN_MODULE(TransformerDecoder, blocks, final_norm)
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE
