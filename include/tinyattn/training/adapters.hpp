// SPDX-License-Identifier: MIT
//
// Low-rank adapters: next to each adapted weight W, which stays constant, a product s A B of rank r
// is trained, s = alpha / r. Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021.
#pragma once

#include "tinyattn/detail/optional.hpp"
#include "tinyattn/initialize.hpp"
#include "tinyattn/language_model.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/training/kernel/adapter.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn {

// What is adapted, and how. The defaults are those of Hugging Face's peft.
struct LoraConfig {
  std::size_t rank = 8;   // of the adapters
  std::size_t alpha = 8;  // the product of an adapter is multiplied by alpha / rank
  bool query = true;      // whether the query projection of attention has adapters
  bool key = false;       // the key projection
  bool value = true;      // the value projection
  bool output = false;    // out_proj
  bool up = false;        // the up projection of feed-forward layers
  bool gate = false;      // their gate, if there is one
  bool down = false;      // their down projection
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Which parts of a block have adapters.
template <LoraConfig lora>
inline constexpr bool adapts_attention = lora.query || lora.key || lora.value || lora.output;
template <LoraConfig lora>
inline constexpr bool adapts_feed_forward = lora.up || lora.gate || lora.down;

// A part of a block, or nothing: the type of an absent part is not instantiated.
template <bool Present, class Part, int place>
using OptionalPart = std::conditional_t<Present, Part, Nothing<std::integral_constant<int, place>>>;

}  // namespace detail

// The adapters of a model: of a LanguageModel, a Transformer, a TransformerBlock, a FeedForward, a
// MultiHeadAttention or a Linear, with weights of floats or of int8. They are a module: initialize,
// for_each_parameter, optimizers, save and load take them, and their gradient is of the same type.
// Each has the members of the model that lora adapts; the others are empty. New adapters are 0,
// which is of no use: initialize draws A. With B = 0 an adapted model computes what the model
// computes.
template <class Model, LoraConfig lora>
struct Adapters {
  static_assert(detail::no_such_call<Model>,
                "Adapters are those of a LanguageModel, a Transformer, a TransformerBlock, a "
                "FeedForward, a MultiHeadAttention or a Linear");
};

// Of a Linear: out = x . weight + bias + (s * (x . A)) . B. The sums of the layer go on as chains
// of fma over the rank; x . A is a chain from 0, which s then multiplies.
template <std::size_t In, std::size_t Out, bool Bias, Weights weights, LoraConfig lora>
struct Adapters<Linear<In, Out, Bias, weights>, lora> {
  static_assert(lora.rank != 0, "the rank of adapters must not be zero");
  // 1 for 0, which the static_assert above diagnoses.
  static constexpr std::size_t rank = lora.rank == 0 ? 1 : lora.rank;
  // What multiplies the product: alpha / rank.
  static constexpr float scale = static_cast<float>(static_cast<double>(lora.alpha) / rank);

  Matrix<float, In, rank> lora_A{};   // the transpose of peft's
  Matrix<float, rank, Out> lora_B{};  // the transpose of peft's

  TINYATTN_MODULE(Adapters, lora_A, lora_B)

  // Returns the adapter as kernels take it.
  TINYATTN_ALWAYS_INLINE friend constexpr kernel::Adapter<rank> describe(
      const Adapters& adapters) noexcept {
    return {adapters.lora_A.data(), adapters.lora_B.data(), scale};
  }
};

// Of an attention layer.
template <AttentionConfig config, LoraConfig lora>
struct Adapters<MultiHeadAttention<config>, lora> {
  static_assert(detail::check_heads<config>());
  static_assert(detail::adapts_attention<lora>,
                "adapters of attention are those of query, key, value or output: lora has none");
  static_assert(config.out_proj || !lora.output,
                "lora adapts the output projection, and attention has none");
  using Layer = MultiHeadAttention<config>;                           // whose adapters they are
  using OfQuery = Adapters<typename Layer::QueryProjection, lora>;    // type of query
  using OfKey = Adapters<typename Layer::KeyProjection, lora>;        // type of key and value
  using OfOutput = Adapters<typename Layer::OutputProjection, lora>;  // type of out_proj

  [[no_unique_address]] detail::Optional<lora.query, OfQuery> query{};       // of the queries
  [[no_unique_address]] detail::Optional<lora.key, OfKey> key{};             // of the keys
  [[no_unique_address]] detail::Optional<lora.value, OfKey> value{};         // of the values
  [[no_unique_address]] detail::Optional<lora.output, OfOutput> out_proj{};  // of the output

  TINYATTN_MODULE(Adapters, query, key, value, out_proj)
};

// Of a feed-forward layer.
template <FeedForwardConfig config, LoraConfig lora>
struct Adapters<FeedForward<config>, lora> {
  static_assert(detail::adapts_feed_forward<lora>,
                "adapters of a feed-forward layer are those of up, gate or down: lora has none");
  static_assert(config.gated || !lora.gate, "lora adapts the gate, and the layer is not gated");
  using OfUp = Adapters<typename FeedForward<config>::Up, lora>;      // type of up and gate
  using OfDown = Adapters<typename FeedForward<config>::Down, lora>;  // type of down

  [[no_unique_address]] detail::Optional<lora.up, OfUp> up{};        // of the hidden features
  [[no_unique_address]] detail::Optional<lora.gate, OfUp> gate{};    // of their gate
  [[no_unique_address]] detail::Optional<lora.down, OfDown> down{};  // of the output

  TINYATTN_MODULE(Adapters, up, gate, down)
};

// Of a block.
template <BlockConfig config, LoraConfig lora>
struct Adapters<TransformerBlock<config>, lora> {
  static_assert(detail::check_plain_block<config>());
  static_assert(detail::adapts_attention<lora> || detail::adapts_feed_forward<lora>,
                "lora adapts nothing of the model");
  using Block = TransformerBlock<config>;                         // whose adapters they are
  using OfAttention = Adapters<typename Block::Attention, lora>;  // type of attention
  using OfFeedForward = Adapters<typename Block::Hidden, lora>;   // type of feed_forward

  // Of attention.
  [[no_unique_address]] detail::OptionalPart<detail::adapts_attention<lora>, OfAttention, 0>
      attention{};
  // Of the feed-forward part.
  [[no_unique_address]] detail::OptionalPart<detail::adapts_feed_forward<lora>, OfFeedForward, 1>
      feed_forward{};

  TINYATTN_MODULE(Adapters, attention, feed_forward)
};

// Of a transformer.
template <TransformerConfig config, LoraConfig lora>
struct Adapters<Transformer<config>, lora> {
  using OfBlock = Adapters<TransformerBlock<config.block>, lora>;  // type of an element of blocks

  OfBlock blocks[config.num_layers]{};  // of each block

  TINYATTN_MODULE(Adapters, blocks)
};

// Of a language model. Embeddings and the head stay as they are.
template <LanguageModelConfig config, LoraConfig lora>
struct Adapters<LanguageModel<config>, lora> {
  using OfTransformer = Adapters<Transformer<config.transformer>, lora>;  // type of transformer

  OfTransformer transformer{};  // of the transformer

  TINYATTN_MODULE(Adapters, transformer)
};

// Draws A as peft does, uniform from -1 / sqrt(In) to 1 / sqrt(In) in the order of PyTorch's
// layout, and sets B to 0.
template <std::size_t In, std::size_t Out, bool Bias, Weights weights, LoraConfig lora,
          random_generator Generator>
constexpr void initialize(Adapters<Linear<In, Out, Bias, weights>, lora>& adapters,
                          Generator& generator) noexcept {
  detail::draw_uniform<In>(adapters.lora_A, generator);
  adapters.lora_B = {};
}

namespace detail {

// Adds the products of adapters to the weights that they adapt.
template <class Module, class AdaptersOfModule>
constexpr void add_adapters(Module& module, const AdaptersOfModule& adapters) noexcept {
  if constexpr (std::is_empty_v<AdaptersOfModule>) {
    return;  // the module has none
  } else if constexpr (requires { adapters.lora_A; }) {
    constexpr bool is_float = tensor_like<decltype(module.weight)>;
    static_assert(is_float,
                  "merge takes weights of floats: int8 weights compute through their adapters, as "
                  "adapted(model, adapters)");
    if constexpr (is_float)
      on_native_port([&](auto port) {
        kernel::merge_adapter<decltype(port)>(module.weight.extent(0), module.weight.extent(1),
                                              describe(adapters), output(module.weight, 0));
      });
  } else if constexpr (requires { adapters.query; }) {
    add_adapters(module.query, adapters.query);
    add_adapters(module.key, adapters.key);
    add_adapters(module.value, adapters.value);
    add_adapters(module.out_proj, adapters.out_proj);
  } else if constexpr (requires { adapters.up; }) {
    add_adapters(module.up, adapters.up);
    add_adapters(module.gate, adapters.gate);
    add_adapters(module.down, adapters.down);
  } else if constexpr (requires { adapters.attention; }) {
    add_adapters(module.attention, adapters.attention);
    add_adapters(module.feed_forward, adapters.feed_forward);
  } else if constexpr (requires { adapters.blocks; }) {
    for (std::size_t i = 0; i < Module::num_blocks; ++i)
      add_adapters(module.blocks[i], adapters.blocks[i]);
  } else {
    add_adapters(module.transformer, adapters.transformer);
  }
}

}  // namespace detail

// out = a copy of the model whose weights are W + (s * A) . B: each is a chain of fma over the rank
// that begins at the weight. Computes what the model does through its adapters, to other bits.
// `out` may be the model; then nothing undoes it, since subtraction does not restore bits.
template <class Model, LoraConfig lora>
constexpr void merge(const Model& model, const Adapters<Model, lora>& adapters,
                     Model& out) noexcept {
  if (&out != &model) out = model;
  detail::add_adapters(out, adapters);
}

TINYATTN_DIAGNOSTIC(class First, merge(const First&, ...),
                    "merge takes (model, adapters, out): Adapters of the model, and a model of the "
                    "same type that is not const")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
