// SPDX-License-Identifier: MIT
//
// Transformers: a block, and blocks one after the other. With config.attention.causal they are the
// body of a decoder, else an encoder.
#pragma once

#include "tinyattn/detail/block_calls.hpp"
#include "tinyattn/detail/config_checks.hpp"
#include "tinyattn/detail/optional.hpp"
#include "tinyattn/feed_forward.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/normalization.hpp"

#include <cstddef>
#include <type_traits>

namespace tinyattn {

// The shape of a block: attention and a feed-forward part, each with a norm and a residual. With
// norm_first, a part computes x + part(norm(x)), as in GPT-2 and Llama; without, norm(x + part(x)),
// as in Vaswani et al., 2017, and in torch.nn.TransformerEncoderLayer without norm_first.
struct BlockConfig {
  AttentionConfig attention;                           // d_in and d_out must equal d_model
  FeedForwardConfig feed_forward;                      // d_model is the width of the block
  Normalization normalization = Normalization::layer;  // of both norms
  bool norm_first = true;  // normalize the input of a part, not the sum after it
  bool parallel = false;   // x + attention(norm(x)) + feed_forward(other norm(x)), as GPT-NeoX
};

// The shape of a Transformer: blocks one after the other, and a norm after the last.
struct TransformerConfig {
  BlockConfig block;       // the configuration of every block
  std::size_t num_layers;  // number of blocks
  bool final_norm = true;  // a norm after the last block
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Computes x + attention(norm(x)), then x + feed_forward(norm(x)); or, without norm_first, norm(x +
// attention(x)), then norm(x + feed_forward(x)).
//
// In every form below x and out are [tokens, d_model] or, except in calls with a cache, a batch
// [..., tokens, d_model]; out may be x.
template <BlockConfig config>
struct TransformerBlock {
  static_assert(detail::check_order_of_parts<config>());

  using Attention = MultiHeadAttention<config.attention>;  // type of the member attention
  using Hidden = FeedForward<config.feed_forward>;         // type of the member feed_forward
  // LayerNorm or RmsNorm, as config.normalization says.
  using Norm = detail::Norm<config.normalization, config.feed_forward.d_model>;

  static constexpr std::size_t num_blocks = 1;  // as a Transformer of one block

  Norm attention_norm;     // [d_model]
  Attention attention;     // d_in and d_out are d_model
  Norm feed_forward_norm;  // [d_model]
  Hidden feed_forward;     // of d_model features

  // All the scratch of a call. Nothing is kept between calls.
  struct Workspace : detail::BlockWorkspace<config, Attention, Hidden> {};

  // The keys and values of the tokens so far. The scratch of a call with the cache has at most the
  // size of eight rows of the widest layer, or what one token needs, if that is more: its row of
  // scores is as long as the context.
  struct Cache : Attention::Cache {
    // All the scratch of a call with the cache.
    struct Workspace : detail::CachedWorkspace<config> {};
  };

  // Applies the block: forward(x, out, workspace). After x there may be
  //
  //   num_tokens
  //     The first rows of x, of which there may be 0. Other rows of `out` stay as they are. If
  //     there are more than context_length or x has, writes nothing and returns too_many_tokens,
  //     else ok.
  //   a mask, [tokens, tokens] or [tokens]
  //     It masks keys in addition to config.attention.causal.
  //   a Cache, after x or num_tokens; then `workspace` is its Workspace
  //     The tokens follow those of the cache, and are added to it. The bits are the same however a
  //     text is divided into calls. If the cache has no room for all of them, cache and `out` stay
  //     as they are, and too_many_tokens is returned.
  //
  // and after the workspace a Philox4x32, of a program that includes training.hpp:
  //
  //   forward(x, out, workspace, generator)
  //     A training pass, with dropout at the rates of config.attention, with a mask or num_tokens
  //     or without. `workspace` may be a BackwardWorkspace. Each element of the batch draws for
  //     attention weights, then for outputs of attention, then for those of the feed-forward part.
  template <class... Arguments>
  requires(detail::is_forward_of_blocks<TransformerBlock, Arguments...>()) constexpr auto forward(
      Arguments&&... arguments) const noexcept {
    return detail::forward_of_blocks<config, Arguments...>(*this, arguments...);
  }

  TINYATTN_DIAGNOSTIC(class First = detail::Anything, forward(const First&, ...) const,
                      "forward takes (x, out, workspace), with num_tokens or a mask after x, or "
                      "(x, cache, out, workspace) with a Cache and its Workspace; out is a tensor "
                      "or a MatrixView, neither const nor a temporary")

  TINYATTN_MODULE(TransformerBlock, attention_norm, attention, feed_forward_norm, feed_forward)

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const TransformerBlock& block) noexcept {
    using Plain =
        kernel::Block<decltype(describe(block.attention)), decltype(describe(block.feed_forward))>;
    return std::conditional_t<config.parallel, kernel::ParallelBlock<Plain>, Plain>{
        describe(block.attention_norm), describe(block.attention),
        describe(block.feed_forward_norm), describe(block.feed_forward), config.norm_first};
  }
};

// `num_layers` blocks, and a norm after the last: torch.nn.TransformerEncoder, or the body of a
// decoder.
template <TransformerConfig config>
struct Transformer {
  static_assert(config.num_layers != 0, "num_layers must not be zero");

  using Block = TransformerBlock<config.block>;  // type of a block
  using Norm = typename Block::Norm;             // type of the final norm, and of those in blocks

  static constexpr std::size_t num_blocks = config.num_layers;  // in `blocks`

  Block blocks[config.num_layers];  // in the order in which they are applied
  // [d_model]
  [[no_unique_address]] detail::Optional<config.final_norm, Norm> final_norm{};

  // All the scratch of a call, for one block at a time.
  struct Workspace : Block::Workspace {};

  // The caches of all blocks, each with the same number of tokens.
  struct Cache : detail::CachesOfBlocks<typename Block::Cache, config.num_layers> {
    // All the scratch of a call with the cache.
    using Workspace = typename Block::Cache::Workspace;
  };

  // Applies all blocks, then the final norm, in the forms of TransformerBlock::forward. In a
  // training pass a batch element draws for block after block.
  template <class... Arguments>
  requires(detail::is_forward_of_blocks<Transformer, Arguments...>()) constexpr auto forward(
      Arguments&&... arguments) const noexcept {
    return detail::forward_of_blocks<config.block, Arguments...>(*this, arguments...);
  }

  TINYATTN_DIAGNOSTIC(class First = detail::Anything, forward(const First&, ...) const,
                      "forward takes (x, out, workspace), with num_tokens or a mask after x, or "
                      "(x, cache, out, workspace) with a Cache and its Workspace; out is a tensor "
                      "or a MatrixView, neither const nor a temporary")

  TINYATTN_MODULE(Transformer, blocks, final_norm)
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE
