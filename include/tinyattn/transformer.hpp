// SPDX-License-Identifier: MIT
//
// Transformers: a block, and blocks one after the other. With config.attention.causal they are the
// body of a decoder, else an encoder.
#pragma once

#include "tinyattn/status.hpp"
#include "tinyattn/transformer_config.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// x + attention(norm(x)), then x + feed_forward(norm(x)); or norm(x + attention(x)), then
// norm(x + feed_forward(x)).
//
// In every form below x and out are [tokens, d_model] or, but for calls with a cache, a batch
// [..., tokens, d_model]; out may be x.
template <BlockConfig config>
struct TransformerBlock {
  static_assert(kernel::check_config<config>());

  using Attention = MultiHeadAttention<config.attention>;  // of attention
  using Hidden = FeedForward<config.feed_forward>;         // of feed_forward
  using Norm = detail::NormOf<config>;                     // as config.normalization says
  // All weights and biases, in floats.
  static constexpr std::size_t parameter_count = detail::count_parameters<TransformerBlock>();

  Norm attention_norm;     // [d_model]
  Attention attention;     // d_in and d_out are d_model
  Norm feed_forward_norm;  // [d_model]
  Hidden feed_forward;     // of d_model features

  // All the scratch of a call. What it holds between calls means nothing.
  struct Workspace : detail::BlockWorkspace<config> {};

  // The keys and values of the tokens so far. The scratch of a call with it is eight rows of the
  // widest layer at most; more only where a single token needs more: its row of scores is as long
  // as the context.
  struct Cache : Attention::Cache {
    // All the scratch of a call with the cache.
    struct Workspace : detail::CachedWorkspace<config> {};
  };

  // All rows of x, without a mask but config.causal.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out, Workspace& workspace) const noexcept {
    forward(x, NoMask{}, out, workspace);
  }

  // With a mask, [tokens, tokens] or [tokens]: it hides keys in addition to config.causal.
  template <tensor_like TensorX, detail::no_count_nor<Cache> Mask, tensor_like Out>
  constexpr void forward(const TensorX& x, const Mask& mask, Out& out,
                         Workspace& workspace) const noexcept {
    constexpr std::size_t tokens = detail::LayoutOf<TensorX>::rows;
    if constexpr (kernel::check_layer<config.attention, TensorX, TensorX, TensorX, Out>() &&
                  kernel::check_mask<Mask, tokens, tokens>())
      kernel::forward_batch<config>(*this, tokens, x, mask, out, workspace);
  }

  // The first num_tokens rows of x; 0 is fine. The other rows of `out` stay as they are. For more
  // than context_length or the rows of x, nothing is written and too_many_tokens comes back.
  template <tensor_like TensorX, tensor_like Out>
  constexpr Status forward(const TensorX& x, std::size_t num_tokens, Out& out,
                           Workspace& workspace) const noexcept {
    if constexpr (kernel::check_layer<config.attention, TensorX, TensorX, TensorX, Out, true>()) {
      if (num_tokens > config.attention.context_length ||
          num_tokens > detail::LayoutOf<TensorX>::rows)
        return Status::too_many_tokens;
      if (num_tokens != 0)
        kernel::forward_batch<config>(*this, num_tokens, x, NoMask{}, out, workspace);
    }
    return Status::ok;
  }

  // The tokens behind those of the cache, which are added to it. The same bits however a text is
  // divided. For more than it has room for, cache and out stay as they are and too_many_tokens
  // comes back. Of x, all rows; or the first num_tokens, and the other rows of `out` stay as they
  // are.
  template <tensor_like TensorX, detail::changeable<Cache> KeyValues, tensor_like Out>
  constexpr Status forward(const TensorX& x, KeyValues& cache, Out& out,
                           typename KeyValues::Workspace& workspace) const noexcept {
    return forward(x, detail::LayoutOf<TensorX>::rows, cache, out, workspace);
  }
  template <tensor_like TensorX, detail::changeable<Cache> KeyValues, tensor_like Out>
  constexpr Status forward(const TensorX& x, std::size_t num_tokens, KeyValues& cache, Out& out,
                           typename KeyValues::Workspace& workspace) const noexcept {
    if constexpr (kernel::check_layer<config.attention, TensorX, TensorX, TensorX, Out, true>() &&
                  kernel::check_cached<TensorX>()) {
      if (num_tokens > detail::LayoutOf<TensorX>::rows || !cache.has_room(num_tokens))
        return Status::too_many_tokens;
      kernel::forward_items_cached<config>(*this, num_tokens, x, cache, out, workspace);
    }
    return Status::ok;
  }

  template <class TensorX = detail::Anything>
  constexpr detail::Refused forward(const TensorX&, ...) const noexcept {
    static_assert(detail::no_such_call<TensorX>,
                  "forward takes (x, out, workspace), with num_tokens or a mask behind x, or (x, "
                  "cache, out, workspace) with a Cache and its Workspace; out is a tensor or a "
                  "MatrixView, neither const nor a temporary");
    return {};
  }

  friend constexpr bool operator==(const TransformerBlock&, const TransformerBlock&) = default;

  // By name, for for_each_parameter and initialize.
  static constexpr auto members(auto& self, const auto& use) {
    return use(detail::names<"attention_norm", "attention", "feed_forward_norm", "feed_forward">,
               self.attention_norm, self.attention, self.feed_forward_norm, self.feed_forward);
  }

  // For kernels: x = block(x), for all its tokens or for those behind the cache's.
  TINYATTN_ALWAYS_INLINE constexpr auto block() const noexcept {
    using Layer = decltype(kernel::layer_of<config.attention>(attention));
    return kernel::Block<Layer>{
        kernel::norm_of(attention_norm), kernel::layer_of<config.attention>(attention),
        kernel::norm_of(feed_forward_norm), feed_forward.layer(), config.norm_first};
  }
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr void replace(
      std::size_t tokens, kernel::Output x, const kernel::Mask& mask,
      const kernel::BlockScratch& scratch) const noexcept {
    kernel::forward_block<Port>(block(), scratch, tokens, x, mask);
  }
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr void forward_cached_in_place(
      std::size_t rows, kernel::Output x, auto& cache,
      const kernel::CachedBlockScratch& scratch) const noexcept {
    kernel::forward_block_cached<Port>(block(), cache.parts(), scratch, cache.size(), rows, x);
    cache.num_tokens += rows;
  }
};

// `num_layers` blocks, and a norm behind the last: torch.nn.TransformerEncoder, or the body of a
// decoder.
template <TransformerConfig config>
struct Transformer {
  static_assert(config.num_layers != 0, "num_layers must not be zero");

  using Block = TransformerBlock<config.block>;  // one of them
  using Norm = detail::NormOf<config.block>;     // as config.block.normalization says
  // All weights and biases, in floats.
  static constexpr std::size_t parameter_count = detail::count_parameters<Transformer>();

  Block blocks[config.num_layers];  // the first sees the input
  // [d_model]
  [[no_unique_address]] detail::Optional<config.final_norm, Norm> final_norm{};

  // One serves all blocks.
  struct Workspace : Block::Workspace {};

  // One for each block; each holds as many tokens.
  struct Cache {
    // All the scratch of a call with the cache.
    using Workspace = typename Block::Cache::Workspace;

    // How many tokens it holds.
    constexpr std::size_t size() const noexcept { return blocks[0].size(); }
    // Forgets them.
    constexpr void clear() noexcept {
      for (auto& block : blocks) block.clear();
    }
    // Whether `count` more tokens find room.
    constexpr bool has_room(std::size_t count) const noexcept { return blocks[0].has_room(count); }

    typename Block::Cache blocks[config.num_layers];  // of each block
  };

  // The forms, shapes and errors of TransformerBlock's forward.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out, Workspace& workspace) const noexcept {
    forward(x, NoMask{}, out, workspace);
  }
  template <tensor_like TensorX, detail::no_count_nor<Cache> Mask, tensor_like Out>
  constexpr void forward(const TensorX& x, const Mask& mask, Out& out,
                         Workspace& workspace) const noexcept {
    constexpr std::size_t tokens = detail::LayoutOf<TensorX>::rows;
    if constexpr (kernel::check_layer<config.block.attention, TensorX, TensorX, TensorX, Out>() &&
                  kernel::check_mask<Mask, tokens, tokens>())
      kernel::forward_batch<config.block>(*this, tokens, x, mask, out, workspace);
  }
  template <tensor_like TensorX, tensor_like Out>
  constexpr Status forward(const TensorX& x, std::size_t num_tokens, Out& out,
                           Workspace& workspace) const noexcept {
    if constexpr (kernel::check_layer<config.block.attention, TensorX, TensorX, TensorX, Out,
                                      true>()) {
      if (num_tokens > config.block.attention.context_length ||
          num_tokens > detail::LayoutOf<TensorX>::rows)
        return Status::too_many_tokens;
      if (num_tokens != 0)
        kernel::forward_batch<config.block>(*this, num_tokens, x, NoMask{}, out, workspace);
    }
    return Status::ok;
  }
  template <tensor_like TensorX, detail::changeable<Cache> KeyValues, tensor_like Out>
  constexpr Status forward(const TensorX& x, KeyValues& cache, Out& out,
                           typename KeyValues::Workspace& workspace) const noexcept {
    return forward(x, detail::LayoutOf<TensorX>::rows, cache, out, workspace);
  }
  template <tensor_like TensorX, detail::changeable<Cache> KeyValues, tensor_like Out>
  constexpr Status forward(const TensorX& x, std::size_t num_tokens, KeyValues& cache, Out& out,
                           typename KeyValues::Workspace& workspace) const noexcept {
    if constexpr (kernel::check_layer<config.block.attention, TensorX, TensorX, TensorX, Out,
                                      true>() &&
                  kernel::check_cached<TensorX>()) {
      if (num_tokens > detail::LayoutOf<TensorX>::rows || !cache.has_room(num_tokens))
        return Status::too_many_tokens;
      kernel::forward_items_cached<config.block>(*this, num_tokens, x, cache, out, workspace);
    }
    return Status::ok;
  }

  template <class TensorX = detail::Anything>
  constexpr detail::Refused forward(const TensorX&, ...) const noexcept {
    static_assert(detail::no_such_call<TensorX>,
                  "forward takes (x, out, workspace), with num_tokens or a mask behind x, or (x, "
                  "cache, out, workspace) with a Cache and its Workspace; out is a tensor or a "
                  "MatrixView, neither const nor a temporary");
    return {};
  }

  friend constexpr bool operator==(const Transformer&, const Transformer&) = default;

  // By name, for for_each_parameter and initialize.
  static constexpr auto members(auto& self, const auto& use) {
    return use(detail::names<"blocks", "final_norm">, self.blocks, self.final_norm);
  }

  // For kernels.
  template <class Port>
  constexpr void normalize(std::size_t rows, kernel::Output x) const noexcept {
    if constexpr (config.final_norm)
      kernel::normalize_features<Port>(kernel::norm_of(final_norm), rows, x, x);
  }
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr void replace(
      std::size_t tokens, kernel::Output x, const kernel::Mask& mask,
      const kernel::BlockScratch& scratch) const noexcept {
    for (const Block& block : blocks) block.template replace<Port>(tokens, x, mask, scratch);
    normalize<Port>(tokens, x);
  }
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr void forward_cached_in_place(
      std::size_t rows, kernel::Output x, auto& cache,
      const kernel::CachedBlockScratch& scratch) const noexcept {
    advance<Port>(rows, x, cache, scratch);
    normalize<Port>(rows, x);
  }
  // Without the final norm, which a language model needs of the last row only.
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr void advance(
      std::size_t rows, kernel::Output x, auto& cache,
      const kernel::CachedBlockScratch& scratch) const noexcept {
    for (std::size_t i = 0; i < config.num_layers; ++i)
      blocks[i].template forward_cached_in_place<Port>(rows, x, cache.blocks[i], scratch);
  }
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
