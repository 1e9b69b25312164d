// SPDX-License-Identifier: MIT
//
// Layers, blocks and models that compute through their adapters, which stay apart from the weights.
#pragma once

#include "tinyattn/detail/attention_calls.hpp"
#include "tinyattn/detail/block_calls.hpp"
#include "tinyattn/feed_forward.hpp"
#include "tinyattn/language_model.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/training/adapters.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/transformer.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// For kernels: a projection and its adapters. It may have none, or be absent itself.
TINYATTN_ALWAYS_INLINE constexpr auto describe(const auto& linear, const auto& adapters) noexcept {
  const auto projection = describe(linear);
  const auto adapter = describe(adapters);
  using Weight = kernel::AdaptedWeight<std::remove_const_t<decltype(projection.weight)>,
                                       std::remove_const_t<decltype(adapter)>::rank>;
  return kernel::Projection<Weight>{{projection.weight, adapter}, projection.bias};
}

// A model with its adapters, as adapted(model, adapters) returns it: two references. `forward`
// takes what that of the model takes, and computes the same with other projections.
template <class Model, LoraConfig lora>
struct Adapted;

// Returns a model that computes through its adapters. Both must outlive the result, and stay as
// they are.
template <class Model, LoraConfig lora>
TINYATTN_ALWAYS_INLINE constexpr Adapted<Model, lora> adapted(
    const Model& model, const Adapters<Model, lora>& adapters) noexcept {
  return {{model, adapters}};
}
TINYATTN_DIAGNOSTIC(class First, adapted(const First&, ...),
                    "adapted takes (model, adapters): Adapters of the type of the model")
// The same for a part that has no adapters.
template <class Model, class Absent>
TINYATTN_ALWAYS_INLINE constexpr const Model& adapted(const Model& model,
                                                      const detail::Nothing<Absent>&) noexcept {
  return model;
}

namespace detail {

template <class Module, LoraConfig lora>
struct AdaptedBase {
  const Module& base;
  const Adapters<Module, lora>& adapters;
};

// Gradients are those of the adapters alone.
template <class Module, LoraConfig lora>
struct Trained<Adapted<Module, lora>> {
  using Base = Module;
  using Gradient = Adapters<Module, lora>;
};

}  // namespace detail

// Of a Linear.
template <std::size_t In, std::size_t Out, bool Bias, Weights weights, LoraConfig lora>
struct Adapted<Linear<In, Out, Bias, weights>, lora>
    : detail::AdaptedBase<Linear<In, Out, Bias, weights>, lora> {
  // Computes out = x . weight + bias + (s * (x . A)) . B; x is [..., In], out [..., Out], which may
  // not overlap x.
  template <tensor_like TensorX, tensor_like TensorY>
  constexpr void forward(const TensorX& x, TensorY& out) const noexcept {
    using LayoutX = detail::LayoutOf<TensorX>;
    if constexpr (detail::check_rows_of_layer<In, Out, TensorX, TensorY>())
      on_native_port([&](auto port) {
        constexpr std::size_t width = weights == Weights::int8 ? In : 0;
        detail::IntegerWorkspace<width, detail::rows_on_stack<decltype(port)>(LayoutX::rows, width)>
            integers;
        for (std::size_t element = 0; element < LayoutX::batch; ++element)
          kernel::project<decltype(port), kernel::Shape{LayoutX::rows}>(
              LayoutX::rows, In, Out, detail::input(x, element), describe(*this),
              detail::output(out, element), integers.parts());
      });
  }

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Adapted& self) noexcept {
    return describe(self.base, self.adapters);
  }
};

// Of an attention layer.
template <AttentionConfig config, LoraConfig lora>
struct Adapted<MultiHeadAttention<config>, lora>
    : detail::AdaptedBase<MultiHeadAttention<config>, lora> {
  using Layer = MultiHeadAttention<config>;     // the layer that is adapted
  using Workspace = typename Layer::Workspace;  // all the scratch of a call
  using Cache = typename Layer::Cache;          // the keys and values of the tokens so far
  static constexpr DropoutRate dropout_rate = Layer::dropout_rate;  // of attention weights
  static constexpr DropoutRate residual_dropout_rate = Layer::residual_dropout_rate;  // of outputs

  // As forward of the layer, in all its forms.
  template <class... Arguments>
  requires(detail::is_forward<Layer, config, Arguments...>()) constexpr auto forward(
      Arguments&&... arguments) const noexcept {
    return detail::forward_attention<config, Arguments...>(*this, arguments...);
  }

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Adapted& self) noexcept {
    return detail::describe_attention<config>(self.base, self.adapters);
  }
};

// Of a feed-forward layer.
template <FeedForwardConfig config, LoraConfig lora>
struct Adapted<FeedForward<config>, lora> : detail::AdaptedBase<FeedForward<config>, lora> {
  using Workspace = typename FeedForward<config>::Workspace;  // all the scratch of a call

  // Applies the layer to each row of x. x and out are [..., d_model]; out may be x.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out, Workspace& workspace) const noexcept {
    detail::forward_hidden<config>(*this, x, out, workspace);
  }

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Adapted& self) noexcept {
    const auto up = describe(self.base.up, self.adapters.up);
    return kernel::FeedForward<std::remove_const_t<decltype(up.weight)>>{
        config.d_model,
        config.d_hidden,
        config.activation,
        up,
        describe(self.base.gate, self.adapters.gate),
        describe(self.base.down, self.adapters.down)};
  }
};

namespace detail {

// Of a TransformerBlock or a Transformer.
template <class Model, LoraConfig lora, BlockConfig block>
struct AdaptedBlocks : AdaptedBase<Model, lora> {
  using Workspace = typename Model::Workspace;  // all the scratch of a call
  using Cache = typename Model::Cache;          // the keys and values of the tokens so far
  static constexpr std::size_t num_blocks = Model::num_blocks;

  template <class... Arguments>
  requires(is_forward_of_blocks<Model, Arguments...>()) constexpr auto forward(
      Arguments&&... arguments) const noexcept {
    return forward_of_blocks<block, Arguments...>(adapted(this->base, this->adapters),
                                                  arguments...);
  }
};

}  // namespace detail

// Of a block.
template <BlockConfig config, LoraConfig lora>
struct Adapted<TransformerBlock<config>, lora>
    : detail::AdaptedBlocks<TransformerBlock<config>, lora, config> {
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

// Of a transformer.
template <TransformerConfig config, LoraConfig lora>
struct Adapted<Transformer<config>, lora>
    : detail::AdaptedBlocks<Transformer<config>, lora, config.block> {
  // For kernels: a block, by its number.
  TINYATTN_ALWAYS_INLINE constexpr auto operator[](std::size_t i) const noexcept {
    return adapted(this->base.blocks[i], this->adapters.blocks[i]);
  }
  // For kernels: the blocks.
  TINYATTN_ALWAYS_INLINE friend constexpr Adapted blocks_of(const Adapted& self) noexcept {
    return self;
  }
};

// Of a language model.
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
