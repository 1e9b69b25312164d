// SPDX-License-Identifier: MIT
//
// What transformers are built from, and what is checked of it.
#pragma once

#include "tinyattn/attention_layer.hpp"
#include "tinyattn/feed_forward.hpp"
#include "tinyattn/normalization.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn {

// A block: attention and a feed-forward part, each with a norm and a residual. norm_first is
// x + part(norm(x)), as GPT-2 and Llama; else norm(x + part(x)), as Vaswani et al., 2017, and as
// torch.nn.TransformerEncoderLayer without norm_first. d_model is the d_in and d_out of attention.
struct BlockConfig {
  AttentionConfig attention;                           // its d_in and d_out are d_model
  FeedForwardConfig feed_forward;                      // its d_model is the width of the block
  Normalization normalization = Normalization::layer;  // of both norms
  bool norm_first = true;  // norm the input of a part, not the sum behind it
};

// Blocks one after the other, and a norm behind the last.
struct TransformerConfig {
  BlockConfig block;       // of each
  std::size_t num_layers;  // how many blocks
  bool final_norm = true;  // a norm behind the last block
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

template <BlockConfig config>
using NormOf = Norm<config.normalization, config.feed_forward.d_model>;

// All the scratch of a block, and of blocks that work one after the other.
template <BlockConfig config>
struct BlockWorkspace {
  static constexpr AttentionConfig attention = config.attention;
  static constexpr std::size_t d_model = config.feed_forward.d_model,
                               context_length = attention.context_length;
  using Attention = typename MultiHeadAttention<config.attention>::Workspace;
  using Hidden = typename FeedForward<config.feed_forward>::Workspace;

  float part_of[context_length * d_model];
  float scratch[(sizeof(Attention) < sizeof(Hidden) ? sizeof(Hidden) : sizeof(Attention)) /
                sizeof(float)];

  TINYATTN_ALWAYS_INLINE constexpr kernel::BlockScratch parts() noexcept {
    return {
        {part_of, d_model},
        kernel::parts_of(scratch, attention.d_out, MultiHeadAttention<config.attention>::kv_width,
                         context_length, Attention::block_rows, Attention::query_rows),
        scratch,
        Hidden::rows};
  }
};

// The same for a call with a cache, whose features stand in `Features` rows besides.
template <BlockConfig config, std::size_t Features = 0>
struct CachedWorkspace {
  static constexpr std::size_t d_model = config.feed_forward.d_model,
                               d_hidden = config.feed_forward.d_hidden,
                               context_length = config.attention.context_length;
  static constexpr bool is_gated = config.feed_forward.gated;

  static constexpr std::size_t floats(std::size_t rows) noexcept {
    return rows * Features * d_model +
           kernel::cached_block_scratch(rows, d_model, d_hidden, is_gated, context_length);
  }
  static constexpr std::size_t rows_at_once =
      kernel::cached_rows(kernel::maximum(d_model, d_hidden), floats);

  float scratch[floats(rows_at_once)];

  TINYATTN_ALWAYS_INLINE constexpr kernel::CachedBlockScratch parts() noexcept {
    return kernel::cached_block_parts(scratch + rows_at_once * Features * d_model, rows_at_once,
                                      d_model, context_length);
  }
};

}  // namespace detail

namespace kernel {

template <BlockConfig config>
consteval bool check_config() noexcept {
  constexpr bool widths = config.feed_forward.d_model == config.attention.d_in &&
                          config.feed_forward.d_model == config.attention.d_out;
  static_assert(widths, "d_model must equal d_in and d_out");
  static_assert(config.normalization <= Normalization::rms,
                "normalization must be Normalization::layer or rms");
  return widths;
}

template <class Port>
constexpr void copy_features(std::size_t rows, std::size_t dim, Input from, Output to) noexcept {
  if (from.data == to.data && from.stride == to.stride) return;
  for (std::size_t i = 0; i < rows; ++i)
    transform_row<Port>(from.at(i, 0), to.at(i, 0), dim, [](auto v) { return v; });
}

// out = module(x) for the first `tokens` rows of every item.
template <BlockConfig config>
constexpr void forward_batch(const auto& module, std::size_t tokens, const auto& x,
                             const auto& mask, auto& out, auto& workspace) noexcept {
  constexpr std::size_t d_model = config.feed_forward.d_model;
  const Mask by_mask = mask_of(mask, tokens, tokens);
  on_native_port([&](auto port) {
    for (std::size_t index = 0; index < detail::LayoutOf<decltype(x)>::batch; ++index) {
      const Output rows = output(out, index);
      copy_features<decltype(port)>(tokens, d_model, input(x, index), rows);
      module.template replace<decltype(port)>(
          tokens, rows, config.attention.causal ? and_causal(by_mask) : by_mask, workspace.parts());
    }
  });
}

// The same behind the tokens of a cache, as many rows at a time as there is scratch.
template <BlockConfig config>
constexpr void forward_items_cached(const auto& module, std::size_t tokens, const auto& x,
                                    auto& cache, auto& out, auto& workspace) noexcept {
  constexpr std::size_t most = std::remove_cvref_t<decltype(workspace)>::rows_at_once,
                        d_model = config.feed_forward.d_model;
  on_native_port([&](auto port) {
    for (std::size_t first = 0; first < tokens; first += most) {
      const std::size_t rows = minimum(most, tokens - first);
      const Output features = output(out, 0).from(first, 0);
      copy_features<decltype(port)>(rows, d_model, input(x, 0).from(first, 0), features);
      module.template forward_cached_in_place<decltype(port)>(rows, features, cache,
                                                              workspace.parts());
    }
  });
}

}  // namespace kernel

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
