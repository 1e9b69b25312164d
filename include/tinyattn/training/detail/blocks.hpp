// SPDX-License-Identifier: MIT
//
// Both passes of training over the blocks of a transformer. The forward pass keeps two inputs for
// each block; the backward pass computes everything else again.
#pragma once

#include "tinyattn/training/backward/layers.hpp"
#include "tinyattn/training/backward/multi_head_attention.hpp"
#include "tinyattn/training/kernel/block.hpp"
#include "tinyattn/transformer.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// The dropout of a block. `generator` is in its state before the forward pass of all blocks, where
// each takes a stream for attention weights, one for the outputs of attention, one for those of the
// feed-forward part. Both outputs are dropped at AttentionConfig::residual_dropout.
template <class Attention>
struct BlockDropout {
  static constexpr bool draws_weights = draws(Attention::dropout_rate),
                        draws_outputs = draws(Attention::residual_dropout_rate),
                        drops_weights = Attention::dropout_rate.bits != 0,
                        drops_outputs = Attention::residual_dropout_rate.bits != 0;
  // The number of streams that a block takes.
  static constexpr std::size_t streams = (draws_weights ? 1 : 0) + (draws_outputs ? 2 : 0);

  constexpr BlockDropout(const Philox4x32& generator, std::size_t block,
                         std::size_t tokens) noexcept
      : weights{stream_after(generator, block * streams), tokens},
        of_outputs(stream_after(weights.stream, draws_weights ? 1 : 0)) {}

  template <class Port>
  constexpr void drop_outputs(std::size_t part, std::size_t first, std::size_t rows,
                              kernel::Output x) const noexcept {
    drop_rows_again<Port>(first, rows, x.stride, x, Attention::residual_dropout_rate,
                          stream_after(of_outputs, part));
  }

  WeightsReplay<Attention> weights;
  Philox4x32 of_outputs;
};

template <class Attention>
constexpr auto dropout_of_block(const auto& generator, std::size_t block,
                                std::size_t tokens) noexcept {
  if constexpr (is_no_generator<decltype(generator)>)
    return kernel::NoDropout{};
  else
    return BlockDropout<Attention>(generator, block, tokens);
}

// Returns the gradient of a block as kernels take it.
template <class Gradient>
TINYATTN_ALWAYS_INLINE constexpr kernel::BlockGradient block_gradient(Gradient& gradient) noexcept {
  kernel::BlockGradient pointers;
  if constexpr (requires { gradient.attention_norm; }) {
    pointers.attention_norm = norm_gradient(gradient.attention_norm);
    pointers.feed_forward_norm = norm_gradient(gradient.feed_forward_norm);
  }
  if constexpr (!is_no_gradient<Gradient>) {
    pointers.attention = layer_gradient(gradient.attention);
    pointers.feed_forward = feed_forward_gradient(gradient.feed_forward);
  }
  return pointers;
}

// All the scratch of `Layers` blocks, and room for More floats in its shared part.
template <BlockConfig config, std::size_t Layers, std::size_t More = 0,
          std::size_t IntegerWidth = integer_width_of_block<config>>
struct BlocksBackwardWorkspace {
  static_assert(check_plain_block<config>());
  using Block = TransformerBlock<config>;
  static constexpr BlockConfig block = config;
  using Attention = typename Block::Attention;
  using Hidden = typename Block::Hidden;
  static constexpr std::size_t layers = Layers, d_model = config.feed_forward.d_model,
                               tokens = config.attention.context_length,
                               size = tokens * d_model;  // of the features of all tokens

  float kept[2 * Layers + 1][size];  // the input, and what is kept of each part
  float d[size];                     // features, then their gradients
  float part_of[size];               // the output of a part, and the gradient of its input
  float input[size];                 // of a part, computed again
  float row[d_model];                // of a norm

  // Of one part of a block. The feed-forward part takes as many rows at a time as have room.
  static constexpr std::size_t scratch_floats =
      kernel::maximum(kernel::maximum(sizeof(BackwardWorkspace<Attention>::scratch),
                                      sizeof(BackwardWorkspace<Hidden>::scratch)) /
                          sizeof(float),
                      kernel::maximum(kernel::maximum(sizeof(Attention::Workspace::scratch),
                                                      sizeof(Hidden::Workspace::scratch)) /
                                          sizeof(float),
                                      More));
  static constexpr std::size_t hidden_rows =
      kernel::minimum(IntegerWidth == 0 ? tokens : Hidden::Workspace::rows,
                      scratch_floats / kernel::hidden_backward_scratch(1, Hidden::d_hidden,
                                                                       config.feed_forward.gated));
  float scratch[scratch_floats];
  // Of inputs of int8 weights, through which gradients pass to adapters.
  [[no_unique_address]] IntegerWorkspace<IntegerWidth, hidden_rows, words_of_call<config.attention>>
      integers;
  [[no_unique_address]] KeysAndValuesOfCall<config.attention> keys_and_values;

  static constexpr kernel::Output rows(float* data) noexcept { return {data, d_model}; }

  // Block l keeps two matrices, from kept[2 * l + after] on: with norm_first the inputs of its
  // parts, else the sums before its norms.
  static constexpr std::size_t after = config.norm_first ? 0 : 1;
  TINYATTN_ALWAYS_INLINE constexpr auto parts() noexcept {
    using OfAttention = typename Attention::Workspace;
    return kernel::BlockScratch{rows(part_of),
                                OfAttention::parts_of(scratch, integers.parts(), keys_and_values),
                                scratch, hidden_rows};
  }
  TINYATTN_ALWAYS_INLINE constexpr auto backward_parts() noexcept {
    return kernel::BlockBackwardScratch<decltype(integers.parts())>{
        rows(input),
        rows(part_of),
        row,
        kernel::layer_backward_parts<native_port>(scratch, d_model, Attention::kv_width,
                                                  Attention::head_dim, tokens, integers.parts()),
        scratch,
        hidden_rows};
  }
};

// Computes d = blocks(d) for the first `tokens` rows, and keeps what the backward pass needs.
template <class Port>
[[gnu::noinline]] constexpr void forward_blocks_kept(const auto& blocks, std::size_t tokens,
                                                     const auto& mask, auto& workspace,
                                                     const auto& generator) noexcept {
  using Workspace = std::remove_cvref_t<decltype(workspace)>;
  using Attention = typename Workspace::Attention;
  const kernel::Output x = workspace.rows(workspace.d);
  kernel::copy_rows<Port>(tokens, Workspace::d_model, x, workspace.rows(workspace.kept[0]));
  for (std::size_t l = 0; l < Workspace::layers; ++l) {
    auto* const kept = workspace.kept + 2 * l + Workspace::after;
    kernel::forward_block_kept<Port>(
        describe(blocks[l]), workspace.parts(), tokens, x,
        {workspace.rows(kept[0]), workspace.rows(kept[1])},
        with_mask_of<Workspace::block.attention>(kernel_mask(mask, tokens, tokens)),
        dropout_of_block<Attention>(generator, l, tokens));
  }
  if constexpr (Workspace::block.norm_first)
    kernel::copy_rows<Port>(tokens, Workspace::d_model, x,
                            workspace.rows(workspace.kept[2 * Workspace::layers]));
}

// Writes the input of block `block`, or the output of all blocks, from what was kept.
template <class Port>
constexpr void write_input_of_block(const auto& blocks, std::size_t block, std::size_t tokens,
                                    auto& workspace, kernel::Output out) noexcept {
  using Workspace = std::remove_cvref_t<decltype(workspace)>;
  const kernel::Output kept = workspace.rows(workspace.kept[2 * block]);
  if (Workspace::block.norm_first || block == 0)
    kernel::copy_rows<Port>(tokens, Workspace::d_model, kept, out);
  else
    kernel::normalize_features<Port>(describe(blocks[block - 1]).feed_forward_norm, tokens, kept,
                                     out);
}

// Turns d, the gradient of the output of all blocks, into that of their input.
template <class Port>
[[gnu::noinline]] constexpr void blocks_backward(const auto& blocks, auto&& gradient_of,
                                                 std::size_t tokens, const auto& mask,
                                                 auto& workspace, const auto& generator) noexcept {
  using Workspace = std::remove_cvref_t<decltype(workspace)>;
  using Attention = typename Workspace::Attention;
  for (std::size_t l = Workspace::layers; l-- != 0;) {
    auto* const kept = workspace.kept + 2 * l + Workspace::after;
    kernel::block_backward<Port>(
        describe(blocks[l]), gradient_of(l), workspace.backward_parts(), tokens,
        {workspace.rows(kept[0]), workspace.rows(kept[1])}, workspace.rows(workspace.d),
        with_mask_of<Workspace::block.attention>(kernel_mask(mask, tokens, tokens)),
        dropout_of_block<Attention>(generator, l, tokens),
        [&](kernel::Output out) TINYATTN_INLINE_LAMBDA {
          write_input_of_block<Port>(blocks, l, tokens, workspace, out);
        });
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
