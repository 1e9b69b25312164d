// SPDX-License-Identifier: MIT
//
// Blocks and models that compute through their adapters, which stay apart from the weights.
#pragma once

#include "tinyattn/detail/block_calls.hpp"
#include "tinyattn/language_model.hpp"
#include "tinyattn/training/adapted_layers.hpp"
#include "tinyattn/training/adapters.hpp"
#include "tinyattn/transformer.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// A module with the forms of forward of a TransformerBlock.
template <class Model, LoraConfig lora, BlockConfig block>
struct AdaptedForms {
  const Model& base;
  const Adapters<Model, lora>& adapters;

  using Workspace = typename Model::Workspace;  // all the scratch of a call
  using Cache = typename Model::Cache;          // the keys and values of the tokens so far
  static constexpr std::size_t num_blocks = Model::num_blocks;

  template <class... Arguments>
  requires(is_forward_of_blocks<Model, Arguments...>()) constexpr auto forward(
      Arguments&&... arguments) const noexcept {
    return forward_of_blocks<block, Arguments...>(static_cast<const Adapted<Model, lora>&>(*this),
                                                  arguments...);
  }
};

}  // namespace detail

// Of a block. forward takes what that of TransformerBlock takes.
template <BlockConfig config, LoraConfig lora>
struct Adapted<TransformerBlock<config>, lora>
    : detail::AdaptedForms<TransformerBlock<config>, lora, config> {
  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Adapted& self) noexcept {
    const auto& [base, adapters] = self;
    const auto attention = describe(adapted(base.attention, adapters.attention));
    const auto feed_forward = describe(adapted(base.feed_forward, adapters.feed_forward));
    return kernel::Block<std::remove_const_t<decltype(attention)>,
                         std::remove_const_t<decltype(feed_forward)>>{
        describe(base.attention_norm), attention, describe(base.feed_forward_norm), feed_forward,
        config.norm_first};
  }
};

namespace detail {

// The blocks of an adapted transformer, by their numbers.
template <TransformerConfig config, LoraConfig lora>
struct AdaptedBlocks : AdaptedBase<Transformer<config>, lora> {
  TINYATTN_ALWAYS_INLINE constexpr auto operator[](std::size_t i) const noexcept {
    return adapted(this->base.blocks[i], this->adapters.blocks[i]);
  }
};

}  // namespace detail

// Of a transformer. forward takes what that of Transformer takes.
template <TransformerConfig config, LoraConfig lora>
struct Adapted<Transformer<config>, lora>
    : detail::AdaptedForms<Transformer<config>, lora, config.block> {
  // For kernels: the blocks.
  TINYATTN_ALWAYS_INLINE friend constexpr detail::AdaptedBlocks<config, lora> blocks_of(
      const Adapted& self) noexcept {
    return {{self.base, self.adapters}};
  }
};

// Of a language model. forward takes what that of LanguageModel takes.
template <LanguageModelConfig config, LoraConfig lora>
struct Adapted<LanguageModel<config>, lora> : detail::AdaptedBase<LanguageModel<config>, lora> {
  using Model = LanguageModel<config>;          // the model that is adapted
  using Workspace = typename Model::Workspace;  // all the scratch of a call
  using Cache = typename Model::Cache;          // the keys and values of the tokens so far

  // Computes logits [T, vocabulary] from tokens, as LanguageModel::forward.
  template <std::size_t Tokens, tensor_like Logits>
  constexpr Status forward(const Vector<Token, Tokens>& tokens, Logits& logits,
                           Workspace& workspace) const noexcept {
    return Model::forward_of(*this, tokens, logits, workspace);
  }

  // Adds tokens to the cache, and computes the logits of the token after the last.
  template <detail::changeable<Cache> KeyValues, tensor_like Logits>
  constexpr Status forward(TokenView tokens, KeyValues& cache, Logits& logits,
                           typename KeyValues::Workspace& workspace) const noexcept {
    return Model::forward_of(*this, tokens, cache, logits, workspace);
  }

  // A training pass, as that of the model.
  template <std::size_t Tokens, tensor_like Logits, random_generator Generator>
  constexpr Status forward(const Vector<Token, Tokens>& tokens, Logits& logits, auto& workspace,
                           Generator& generator) const noexcept {
    return detail::train_forward(*this, tokens, logits, workspace, generator);
  }

  // For kernels: what those of LanguageModel return and do.
  TINYATTN_ALWAYS_INLINE constexpr auto body() const noexcept {
    return adapted(this->base.transformer, this->adapters.transformer);
  }
  // For kernels: what makes logits of features.
  TINYATTN_ALWAYS_INLINE constexpr auto logits_head() const noexcept {
    return this->base.logits_head();
  }
  // For kernels: the embeddings of tokens.
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr void embed(const Token* tokens, std::size_t count,
                                              std::size_t position,
                                              kernel::Output x) const noexcept {
    this->base.template embed<Port>(tokens, count, position, x);
  }
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
