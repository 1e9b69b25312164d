// SPDX-License-Identifier: MIT
//
// Models that compute through their adapters, which stay apart from the weights.
#pragma once

#include "tinyattn/adapters.hpp"
#include "tinyattn/detail/block_calls.hpp"
#include "tinyattn/language_model.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/transformer.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// A module and its adapters, which both must outlive it.
template <class Module, LoraConfig lora>
struct AdaptedBase {
  const Module& base;
  const Adapters<Module, lora>& adapters;
};

}  // namespace detail

// For kernels: a projection and its adapters. It may have none, or be absent itself.
TINYATTN_ALWAYS_INLINE constexpr auto describe(const auto& linear, const auto& adapters) noexcept {
  const auto projection = describe(linear);
  const auto adapter = describe(adapters);
  using Weight = kernel::AdaptedWeight<std::remove_const_t<decltype(projection.weight)>,
                                       std::remove_const_t<decltype(adapter)>::rank>;
  return kernel::Projection<Weight>{{projection.weight, adapter}, projection.bias};
}

// A model with its adapters, as adapted(model, adapters) returns it: two references.
template <class Model, LoraConfig lora>
struct Adapted;

// Returns a model that computes through its adapters. Both must outlive the result, and stay as
// they are.
template <class Model, LoraConfig lora>
TINYATTN_ALWAYS_INLINE constexpr Adapted<Model, lora> adapted(
    const Model& model, const Adapters<Model, lora>& adapters) noexcept {
  return {{model, adapters}};
}
template <class Model>
constexpr detail::Diagnosed adapted(const Model&, ...) noexcept {
  static_assert(detail::no_such_call<Model>,
                "adapted takes (model, adapters): Adapters of the type of the model");
  return {};
}
// The same for a part that has no adapters.
template <class Model, class Absent>
TINYATTN_ALWAYS_INLINE constexpr const Model& adapted(const Model& model,
                                                      const detail::Nothing<Absent>&) noexcept {
  return model;
}

// Of a Linear. forward takes what that of Linear takes.
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
        detail::IntegerWorkspace<width, detail::rows_on_stack(LayoutX::rows, width)> integers;
        for (std::size_t element = 0; element < LayoutX::batch; ++element)
          kernel::project<decltype(port)>(LayoutX::rows, In, Out, detail::input(x, element),
                                          describe(*this), detail::output(out, element),
                                          integers.parts());
      });
  }

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Adapted& self) noexcept {
    return describe(self.base, self.adapters);
  }
};

// Of an attention layer. forward takes what that of MultiHeadAttention takes.
template <AttentionConfig config, LoraConfig lora>
struct Adapted<MultiHeadAttention<config>, lora>
    : detail::AdaptedBase<MultiHeadAttention<config>, lora> {
  using Workspace = typename MultiHeadAttention<config>::Workspace;  // all the scratch of a call

  // Self-attention, with a mask or without.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out, Workspace& workspace) const noexcept {
    forward(x, x, x, NoMask{}, out, workspace);
  }
  template <tensor_like TensorX, class Mask, tensor_like Out>
  constexpr void forward(const TensorX& x, const Mask& mask, Out& out,
                         Workspace& workspace) const noexcept {
    forward(x, x, x, mask, out, workspace);
  }

  // Cross-attention.
  template <tensor_like Query, tensor_like Key, tensor_like Value, class Mask, tensor_like Out>
  constexpr void forward(const Query& query_input, const Key& key_input, const Value& value_input,
                         const Mask& mask, Out& out, Workspace& workspace) const noexcept {
    detail::forward_all<config>(*this, query_input, key_input, value_input, mask, out, workspace);
  }

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Adapted& self) noexcept {
    return detail::describe_attention<config>(self.base, self.adapters);
  }
};

// Of a feed-forward layer.
template <FeedForwardConfig config, LoraConfig lora>
struct Adapted<FeedForward<config>, lora> : detail::AdaptedBase<FeedForward<config>, lora> {
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

// Of a block, and of a transformer. forward takes what theirs take.
template <BlockConfig config, LoraConfig lora>
struct Adapted<TransformerBlock<config>, lora>
    : detail::AdaptedBase<TransformerBlock<config>, lora> {
  using Workspace = typename TransformerBlock<config>::Workspace;  // all the scratch of a call

  // Applies the block to all rows of x, with a mask or without.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out, Workspace& workspace) const noexcept {
    forward(x, NoMask{}, out, workspace);
  }
  template <tensor_like TensorX, class Mask, tensor_like Out>
  constexpr void forward(const TensorX& x, const Mask& mask, Out& out,
                         Workspace& workspace) const noexcept {
    detail::forward_blocks<config>(*this, x, mask, out, workspace);
  }

  // Training passes, as those of the block.
  template <tensor_like TensorX, tensor_like Out, random_generator Generator>
  constexpr void forward(const TensorX& x, Out& out, auto& workspace,
                         Generator& generator) const noexcept {
    forward(x, NoMask{}, out, workspace, generator);
  }
  template <tensor_like TensorX, class Mask, tensor_like Out, random_generator Generator>
  constexpr auto forward(const TensorX& x, const Mask& mask, Out& out, auto& workspace,
                         Generator& generator) const noexcept {
    return detail::train_forward(*this, x, mask, out, workspace, generator);
  }

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Adapted& self) noexcept {
    const auto& [base, adapters] = self;
    const auto attention = describe(adapted(base.attention, adapters.attention));
    const auto feed_forward = describe(adapted(base.feed_forward, adapters.feed_forward));
    return kernel::Block<std::remove_const_t<decltype(attention)>,
                         std::remove_const_t<decltype(feed_forward)>>{
        describe(base.attention_norm), attention, describe(base.feed_forward_norm), feed_forward,
        config.norm_first};
  }

  // For kernels: computes x = block(x).
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr void apply_in_place(std::size_t tokens, kernel::Output x,
                                                       const auto& mask,
                                                       const auto& scratch) const noexcept {
    kernel::forward_block<Port>(describe(*this), scratch, tokens, x, mask);
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
struct Adapted<Transformer<config>, lora> : detail::AdaptedBase<Transformer<config>, lora> {
  using Workspace = typename Transformer<config>::Workspace;  // all the scratch of a call

  // Applies the blocks to all rows of x, with a mask or without.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out, Workspace& workspace) const noexcept {
    forward(x, NoMask{}, out, workspace);
  }
  template <tensor_like TensorX, class Mask, tensor_like Out>
  constexpr void forward(const TensorX& x, const Mask& mask, Out& out,
                         Workspace& workspace) const noexcept {
    detail::forward_blocks<config.block>(*this, x, mask, out, workspace);
  }

  // Training passes, as those of the transformer.
  template <tensor_like TensorX, tensor_like Out, random_generator Generator>
  constexpr void forward(const TensorX& x, Out& out, auto& workspace,
                         Generator& generator) const noexcept {
    forward(x, NoMask{}, out, workspace, generator);
  }
  template <tensor_like TensorX, class Mask, tensor_like Out, random_generator Generator>
  constexpr auto forward(const TensorX& x, const Mask& mask, Out& out, auto& workspace,
                         Generator& generator) const noexcept {
    return detail::train_forward(*this, x, mask, out, workspace, generator);
  }

  // For kernels: the blocks, and x = transformer(x).
  TINYATTN_ALWAYS_INLINE friend constexpr detail::AdaptedBlocks<config, lora> blocks_of(
      const Adapted& self) noexcept {
    return {{self.base, self.adapters}};
  }
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr void apply_in_place(std::size_t tokens, kernel::Output x,
                                                       const auto& mask,
                                                       const auto& scratch) const noexcept {
    for (std::size_t i = 0; i < config.num_layers; ++i)
      blocks_of(*this)[i].template apply_in_place<Port>(tokens, x, mask, scratch);
    normalize<Port>(tokens, x);
  }
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr void normalize(std::size_t rows,
                                                  kernel::Output x) const noexcept {
    this->base.template normalize<Port>(rows, x);
  }
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr void apply_blocks_cached(std::size_t rows, kernel::Output x,
                                                            auto& cache,
                                                            const auto& scratch) const noexcept {
    for (std::size_t i = 0; i < config.num_layers; ++i) {
      auto& of_block = cache.blocks[i];
      kernel::forward_block_cached<Port>(describe(blocks_of(*this)[i]), of_block.parts(), scratch,
                                         of_block.size(), rows, x);
      of_block.count_tokens(rows);
    }
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

  // A training pass, as that of the model.
  template <std::size_t Tokens, tensor_like Logits, random_generator Generator>
  constexpr Status forward(const Vector<Token, Tokens>& tokens, Logits& logits, auto& workspace,
                           Generator& generator) const noexcept {
    return detail::train_forward(*this, tokens, logits, workspace, generator);
  }

  // Adds tokens to the cache, and computes the logits of the token after the last.
  template <detail::changeable<Cache> KeyValues, tensor_like Logits>
  constexpr Status forward(TokenView tokens, KeyValues& cache, Logits& logits,
                           typename KeyValues::Workspace& workspace) const noexcept {
    return Model::forward_of(*this, tokens, cache, logits, workspace);
  }

  // For kernels: what those of LanguageModel return and do.
  TINYATTN_ALWAYS_INLINE constexpr auto body() const noexcept {
    return adapted(this->base.transformer, this->adapters.transformer);
  }
  TINYATTN_ALWAYS_INLINE constexpr auto logits_head() const noexcept {
    return this->base.logits_head();
  }
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr void embed(const Token* tokens, std::size_t count,
                                              std::size_t position,
                                              kernel::Output x) const noexcept {
    this->base.template embed<Port>(tokens, count, position, x);
  }
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
