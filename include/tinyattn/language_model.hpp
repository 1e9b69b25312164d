// SPDX-License-Identifier: MIT
//
// Language models: from tokens to the logits of the next token. GPT-2 and Llama are configurations.
#pragma once

#include "tinyattn/detail/config_checks.hpp"
#include "tinyattn/detail/layer_checks.hpp"
#include "tinyattn/detail/operands.hpp"
#include "tinyattn/detail/optional.hpp"
#include "tinyattn/detail/sinusoids.hpp"
#include "tinyattn/embedding.hpp"
#include "tinyattn/kernel/embedding.hpp"
#include "tinyattn/sampling.hpp"
#include "tinyattn/status.hpp"
#include "tinyattn/transformer.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn {

// What is added to the embedding of a token. Rotary positions are part of attention:
// AttentionConfig::rotary.
enum class Positions : unsigned char {
  none,       // nothing
  learned,    // a row of an Embedding for each position
  sinusoidal  // sinusoidal_positions
};

// The shape of a language model. Its head is a projection, [d_model, vocabulary]. The weight of a
// tied head is the transposed token embedding, and it has no bias.
struct LanguageModelConfig {
  std::size_t vocabulary;                    // number of different tokens, at most 65,536
  TransformerConfig transformer;             // the blocks between the embeddings and the head
  Positions positions = Positions::learned;  // what is added to the features of a token
  bool tied = true;                          // the token embedding is the weight of the head
  bool head_bias = false;                    // whether a head that is not tied has a bias
  Weights weights = Weights::f32;            // of the token embedding and of the head
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Embeddings, a Transformer, and a head, which maps features to logits. Radford et al., "Language
// Models are Unsupervised Multitask Learners", 2019; Touvron et al., "LLaMA", 2023.
template <LanguageModelConfig config>
struct LanguageModel {
  static_assert(detail::check_language_model_config<config>());

  using Body = Transformer<config.transformer>;                   // type of transformer
  static constexpr BlockConfig block = config.transformer.block;  // the configuration of a block
  // The number of features of a token, and the maximum number of tokens of a text.
  static constexpr std::size_t d_model = block.feed_forward.d_model,
                               context_length = block.attention.context_length;
  // Whether there is a position_embedding.
  static constexpr bool has_learned_positions = config.positions == Positions::learned;
  // config.vocabulary, or 1 for 0, which the static_assert above diagnoses.
  static constexpr std::size_t vocabulary = config.vocabulary == 0 ? 1 : config.vocabulary;
  using TokenEmbedding = Embedding<vocabulary, d_model, config.weights>;  // a row for each token id
  using PositionEmbedding = Embedding<context_length, d_model>;           // a row for each position
  // From features to logits.
  using HeadLinear = Linear<d_model, vocabulary, config.head_bias, config.weights>;

  // The widest input that is quantized; 0 for weights of floats.
  static constexpr std::size_t integer_width = kernel::maximum(
      detail::integer_width_of_block<block>, config.weights == Weights::int8 ? d_model : 0);

  TokenEmbedding token_embedding;  // [vocabulary, d_model]
  // [context_length, d_model]
  [[no_unique_address]] detail::Optional<has_learned_positions, PositionEmbedding>
      position_embedding{};
  Body transformer;                                                         // the blocks
  [[no_unique_address]] detail::Optional<!config.tied, HeadLinear> head{};  // [d_model, vocabulary]

  // All the scratch of a call: that of one block, and the features of the tokens.
  struct Workspace {
    Matrix<float, context_length, d_model> features;  // of all tokens
    // Of one block.
    detail::BlockWorkspace<block, typename Body::Block::Attention, typename Body::Block::Hidden,
                           integer_width>
        transformer;
  };

  // The keys and values of the tokens so far. The scratch of a call with the cache has at most the
  // size of eight rows of the widest layer, or what one token needs, if that is more: its row of
  // scores is as long as the context.
  struct Cache : Body::Cache {
    // All the scratch of a call with the cache.
    struct Workspace : detail::CachedWorkspace<block, 1, integer_width> {};

    // Whether there is room for `count` more tokens. Positions from a table end with it.
    constexpr bool has_room(std::size_t count) const noexcept {
      return Body::Cache::has_room(count) &&
             (config.positions == Positions::none || count <= context_length - this->size());
    }
  };

  // Computes logits [T, vocabulary] from tokens, a Vector<Token, T>: row i is for the token after
  // tokens[i]. If a token is not below `vocabulary`, writes nothing and returns unknown_token.
  template <std::size_t Tokens, tensor_like Logits>
  constexpr Status forward(const Vector<Token, Tokens>& tokens, Logits& logits,
                           Workspace& workspace) const noexcept {
    return forward_of(*this, tokens, logits, workspace);
  }

  // Adds `tokens` to the cache, after the tokens that it holds, and computes the logits
  // [vocabulary] of the token after the last. The bits are the same however a text is divided into
  // calls. Returns too_many_tokens if the cache has no room for all tokens, unknown_token if one is
  // not below `vocabulary`. After an error, and for no tokens, cache and logits stay as they are.
  template <detail::changeable<Cache> KeyValues, tensor_like Logits>
  constexpr Status forward(TokenView tokens, KeyValues& cache, Logits& logits,
                           typename KeyValues::Workspace& workspace) const noexcept {
    return forward_of(*this, tokens, cache, logits, workspace);
  }

  // A training pass, with dropout by a Philox4x32 at the rates of the configuration, in the order
  // of Transformer::forward. A program that makes it includes training.hpp; `workspace` is a
  // Workspace, or the BackwardWorkspace of the model, such as that of its Training.
  template <std::size_t Tokens, tensor_like Logits, random_generator Generator>
  constexpr Status forward(const Vector<Token, Tokens>& tokens, Logits& logits, auto& workspace,
                           Generator& generator) const noexcept {
    return detail::train_forward(*this, tokens, logits, workspace, generator);
  }

  template <class Self = LanguageModel>
  constexpr detail::Diagnosed forward(detail::Anything, ...) const noexcept {
    static_assert(detail::no_such_call<Self>,
                  "forward takes (tokens, logits, workspace) with a Vector<Token, N>, or (tokens, "
                  "cache, logits, workspace) with a std::span<const Token>, a Cache and its "
                  "Workspace; logits are neither const nor a temporary");
    return {};
  }

  TINYATTN_MODULE(LanguageModel, token_embedding, position_embedding, transformer, head)

  // For kernels: the body.
  TINYATTN_ALWAYS_INLINE constexpr const Body& body() const noexcept { return transformer; }
  // For kernels: what makes logits of features.
  TINYATTN_ALWAYS_INLINE constexpr auto logits_head() const noexcept {
    if constexpr (config.weights != Weights::int8)
      return kernel::LogitsHeadOf<detail::KernelWeight<config.weights>>{
          d_model, config.vocabulary, describe(head),
          detail::projection_of(token_embedding).weight};
    else if constexpr (config.tied)
      return kernel::Int8LogitsHead{
          d_model, config.vocabulary, {describe(token_embedding).weights, nullptr}};
    else
      return kernel::Int8LogitsHead{d_model, config.vocabulary, describe(head)};
  }

  // For kernels: x = the embeddings of `count` tokens.
  template <class Port>
  constexpr void embed(const Token* tokens, std::size_t count, std::size_t position,
                       kernel::Output x) const noexcept {
    kernel::embed<Port>(describe(token_embedding), positions(), tokens, count, position, x);
  }

  // The two calls of forward of a model: of this type, or of this one with adapters.
  template <std::size_t Tokens, class Logits>
  TINYATTN_ALWAYS_INLINE static constexpr Status forward_of(const auto& self,
                                                            const Vector<Token, Tokens>& tokens,
                                                            Logits& logits,
                                                            Workspace& workspace) noexcept {
    constexpr bool fits = Tokens <= context_length;
    static_assert(fits, "more tokens than context_length");
    if constexpr (fits && detail::check_logits<config.vocabulary, Tokens, Logits>()) {
      if (!kernel::are_known(tokens.data(), Tokens, config.vocabulary))
        return Status::unknown_token;
      on_native_port([&](auto port) {
        using Port = decltype(port);
        const kernel::Output x{workspace.features.data(), d_model};
        self.template embed<Port>(tokens.data(), Tokens, 0, x);
        detail::apply_blocks<Port>(self.body(), Tokens, x,
                                   detail::with_mask_of<block.attention>(kernel::no_mask(Tokens)),
                                   workspace.transformer.parts());
        kernel::compute_logits<Port>(self.logits_head(), Tokens, x, detail::output(logits, 0),
                                     workspace.transformer.integers.parts());
      });
    }
    return Status::ok;
  }
  template <class Logits>
  TINYATTN_ALWAYS_INLINE static constexpr Status forward_of(const auto& self,
                                                            const TokenView& tokens, auto& cache,
                                                            Logits& logits,
                                                            auto& workspace) noexcept {
    if constexpr (detail::check_logits<config.vocabulary, 1, Logits>()) {
      constexpr std::size_t most = std::remove_cvref_t<decltype(workspace)>::rows_at_once;
      const std::size_t count = tokens.size();
      if (!cache.has_room(count)) return Status::too_many_tokens;
      if (!kernel::are_known(tokens.data(), count, config.vocabulary)) return Status::unknown_token;
      if (count == 0) return Status::ok;
      const kernel::Output last = on_native_port([&, tokens](auto port) {
        const kernel::Output x{workspace.scratch, d_model};
        std::size_t rows = 0;
        for (std::size_t first = 0; first < tokens.size(); first += rows) {
          rows = kernel::minimum(most, tokens.size() - first);
          self.template embed<decltype(port)>(tokens.data() + first, rows, cache.size(), x);
          detail::apply_blocks_cached<decltype(port)>(self.body(), rows, x, cache,
                                                      workspace.parts());
        }
        return x.from(rows - 1, 0);
      });
      on_native_port([&](auto port) {
        using Port = decltype(port);
        detail::apply_final_norm<Port>(self.body(), 1, last);
        kernel::compute_logits<Port>(self.logits_head(), 1, last, detail::output(logits, 0),
                                     workspace.integers.parts());
      });
    }
    return Status::ok;
  }

 private:
  TINYATTN_ALWAYS_INLINE constexpr kernel::Dense positions() const noexcept {
    if constexpr (has_learned_positions)
      return {position_embedding.weight.data(), d_model};
    else if constexpr (config.positions == Positions::sinusoidal)
      return {detail::sinusoidal_table<context_length, d_model>.data(), d_model};
    else
      return {nullptr, d_model};
  }
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
