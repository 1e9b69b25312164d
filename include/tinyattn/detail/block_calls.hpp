// SPDX-License-Identifier: MIT
//
// The scratch of transformer blocks, and their calls with tensors.
#pragma once

#include "tinyattn/detail/attention_checks.hpp"
#include "tinyattn/detail/attention_shape.hpp"
#include "tinyattn/detail/attention_workspace.hpp"
#include "tinyattn/detail/blocks.hpp"
#include "tinyattn/detail/call.hpp"
#include "tinyattn/detail/operands.hpp"
#include "tinyattn/kernel/block.hpp"
#include "tinyattn/shape.hpp"
#include "tinyattn/status.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// The widest input that a block quantizes, or 0 for weights of floats.
template <auto config>
inline constexpr std::size_t integer_width_of_block = kernel::maximum(
    integer_width<config.attention>, integer_width_of_feed_forward<config.feed_forward>);

// All the scratch of a block, or of blocks that run one after the other, of which More floats and
// words are those of attention to a source.
template <auto config, class Attention, class FeedForward,
          std::size_t IntegerWidth = integer_width_of_block<config>, std::size_t MoreBytes = 0,
          std::size_t MoreWords = 0>
struct BlockWorkspace {
  static constexpr std::size_t d_model = config.feed_forward.d_model,
                               context_length = config.attention.context_length;
  using OfAttention = typename Attention::Workspace;
  using OfFeedForward = typename FeedForward::Workspace;

  float part_of[context_length * d_model];
  float scratch[kernel::maximum(kernel::maximum(sizeof(OfAttention::scratch), MoreBytes),
                                sizeof(OfFeedForward::scratch)) /
                sizeof(float)];
  [[no_unique_address]] IntegerWorkspace<IntegerWidth, OfFeedForward::rows,
                                         kernel::maximum(words_of_call<config.attention>,
                                                         MoreWords)>
      integers;
  [[no_unique_address]] KeysAndValuesOfCall<config.attention> keys_and_values;

  TINYATTN_ALWAYS_INLINE constexpr auto parts() noexcept {
    return kernel::BlockScratch{kernel::Output{part_of, d_model},
                                OfAttention::parts_of(scratch, integers.parts(), keys_and_values),
                                scratch, OfFeedForward::rows};
  }
};

// All the scratch of a call with a cache, and FeatureRows * d_model floats more for each token.
template <auto config, std::size_t FeatureRows = 0,
          std::size_t IntegerWidth = integer_width_of_block<config>,
          std::size_t Scores = scores_in_floats<config.attention>,
          std::size_t Words = words_of_scores<config.attention>>
struct CachedWorkspace {
  static constexpr std::size_t d_model = config.feed_forward.d_model,
                               d_hidden = config.feed_forward.d_hidden,
                               context_length = config.attention.context_length;

  static constexpr std::size_t floats(std::size_t rows) noexcept {
    return rows * FeatureRows * d_model +
           kernel::cached_block_scratch(rows, d_model, d_hidden, config.feed_forward.gated, Scores,
                                        width_of_heads<config.attention>);
  }
  static constexpr std::size_t words(std::size_t rows) noexcept {
    return floats(rows) + integer_words<IntegerWidth, Words>(rows);
  }
  static constexpr std::size_t rows_at_once =
      cached_rows(kernel::maximum(d_model, d_hidden), words);

  float scratch[floats(rows_at_once)];
  [[no_unique_address]] IntegerWorkspace<IntegerWidth, rows_at_once, Words> integers;

  TINYATTN_ALWAYS_INLINE constexpr auto parts() noexcept {
    return kernel::cached_block_parts(scratch + rows_at_once * FeatureRows * d_model, rows_at_once,
                                      d_model, integers.parts());
  }
};

template <class Port>
constexpr void copy_features(std::size_t rows, std::size_t dim, kernel::Dense from,
                             kernel::Output to) noexcept {
  if (from.data == to.data && from.stride == to.stride) return;
  for (std::size_t i = 0; i < rows; ++i)
    kernel::transform_row<Port>(from.at(i, 0), to.at(i, 0), dim, [](auto v) { return v; });
}

// Computes out = module(x) for the first `tokens` rows of every batch element; module is a
// TransformerBlock or a Transformer.
template <auto config>
constexpr void forward_rows(const auto& module, std::size_t tokens, const auto& x, const auto& mask,
                            auto& out, auto& workspace) noexcept {
  constexpr std::size_t d_model = config.feed_forward.d_model;
  const auto by_mask = kernel_mask(mask, tokens, tokens);
  on_native_port([&](auto port) {
    for (std::size_t i = 0; i < LayoutOf<decltype(x)>::batch; ++i) {
      const kernel::Output rows = output(out, i);
      copy_features<decltype(port)>(tokens, d_model, input(x, i), rows);
      apply_blocks<decltype(port)>(module, tokens, rows, with_mask_of<config.attention>(by_mask),
                                   workspace.parts());
    }
  });
}

// Checks the types of a call, and computes all rows.
template <auto config, class TensorX, class Mask, class Out>
constexpr void forward_blocks(const auto& module, const TensorX& x, const Mask& mask, Out& out,
                              auto& workspace) noexcept {
  if constexpr (check_layer<config.attention, TensorX, TensorX, TensorX, Out>() &&
                check_mask_of<Mask, TensorX, TensorX, config.attention.num_heads>())
    forward_rows<config>(module, LayoutOf<TensorX>::rows, x, mask, out, workspace);
}

// The same for the first num_tokens rows.
template <auto config, class TensorX, class Out>
constexpr Status forward_counted_blocks(const auto& module, std::size_t num_tokens,
                                        const TensorX& x, const auto& no_mask, Out& out,
                                        auto& workspace) noexcept {
  if constexpr (check_layer<config.attention, TensorX, TensorX, TensorX, Out, true>()) {
    if (num_tokens > kernel::minimum(config.attention.context_length, LayoutOf<TensorX>::rows))
      return Status::too_many_tokens;
    if (num_tokens != 0) forward_rows<config>(module, num_tokens, x, no_mask, out, workspace);
  }
  return Status::ok;
}

// The same for tokens that follow those of a cache, rows_at_once rows at a time.
template <auto config, class TensorX, class Out>
constexpr Status forward_cached_blocks(const auto& module, std::size_t num_tokens, const TensorX& x,
                                       auto& cache, Out& out, auto& workspace) noexcept {
  constexpr std::size_t most = std::remove_cvref_t<decltype(workspace)>::rows_at_once,
                        d_model = config.feed_forward.d_model;
  if constexpr (check_layer<config.attention, TensorX, TensorX, TensorX, Out, true>() &&
                check_cached<TensorX>()) {
    if (num_tokens > LayoutOf<TensorX>::rows || !cache.has_room(num_tokens))
      return Status::too_many_tokens;
    on_native_port([&](auto port) {
      for (std::size_t first = 0; first < num_tokens; first += most) {
        const std::size_t rows = kernel::minimum(most, num_tokens - first);
        const kernel::Output features = output(out, 0).from(first, 0);
        copy_features<decltype(port)>(rows, d_model, input(x, 0).from(first, 0), features);
        apply_blocks_cached<decltype(port)>(module, rows, features, cache, workspace.parts());
        apply_final_norm<decltype(port)>(module, rows, features);
      }
    });
  }
  return Status::ok;
}

// Calls forward_with_dropout of training.hpp, which the tag finds there. An inference program pays
// for this declaration only.
struct WithDropout {};
template <class Module>
constexpr auto train_forward(const Module& module, auto&&... arguments) noexcept {
  constexpr bool is_included = requires {
    forward_with_dropout(WithDropout{}, module, arguments...);
  };
  static_assert(is_included,
                "a forward pass with dropout is part of training: include tinyattn/training.hpp");
  if constexpr (is_included)
    return forward_with_dropout(WithDropout{}, module, arguments...);
  else
    return Diagnosed{};
}

// Whether a call has one of the forms of forward, with the workspace that goes with it; a training
// pass checks its own.
template <class Module, class... Arguments>
consteval bool is_forward_of_blocks() noexcept {
  using Said = Call<1, Arguments...>;
  if constexpr (!Said::is_call || Said::num_inputs != 1 || (Said::has_counts && Said::has_mask) ||
                (Said::has_cache && Said::has_generator)) {
    return false;
  } else {
    using Workspace = ArgumentAt<Said::workspace, Arguments...>;
    if constexpr (Said::has_generator)
      return true;
    else if constexpr (!Said::has_cache)
      return std::is_base_of_v<typename Module::Workspace, Workspace>;
    else
      return std::is_base_of_v<typename Module::Cache, ArgumentAt<Said::cache, Arguments...>> &&
             std::is_base_of_v<typename Module::Cache::Workspace, Workspace>;
  }
}

// The forms of forward of a TransformerBlock or a Transformer, which may have adapters.
template <auto config, class... Types>
TINYATTN_ALWAYS_INLINE constexpr auto forward_of_blocks(const auto& module,
                                                        auto&... arguments) noexcept {
  using Said = Call<1, Types...>;
  const auto& x = nth<0>(arguments...);
  const std::size_t tokens = rows_of<Said, 0, Said::tokens>(arguments...);
  auto& out = nth<Said::out>(arguments...);
  auto& workspace = nth<Said::workspace>(arguments...);
  if constexpr (Said::has_cache)
    return forward_cached_blocks<config>(module, tokens, x, nth<Said::cache>(arguments...), out,
                                         workspace);
  else if constexpr (Said::has_generator && Said::has_counts)
    return train_forward(module, x, tokens, out, workspace, nth<Said::generator>(arguments...));
  else if constexpr (Said::has_generator)
    return train_forward(module, x, mask_of<Said>(arguments...), out, workspace,
                         nth<Said::generator>(arguments...));
  else if constexpr (Said::has_counts)
    return forward_counted_blocks<config>(module, tokens, x, NoMask{}, out, workspace);
  else
    return forward_blocks<config>(module, x, mask_of<Said>(arguments...), out, workspace);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
