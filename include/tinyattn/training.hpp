// SPDX-License-Identifier: MIT
//
// Training: gradients of all layers, optimizers, adapters, and weights that survive a loss of
// power. A program that only infers does not include this header.
#pragma once

#include "tinyattn/training/adapted.hpp"
#include "tinyattn/training/backward/attention.hpp"
#include "tinyattn/training/backward/elementwise.hpp"
#include "tinyattn/training/backward/language_model.hpp"
#include "tinyattn/training/backward/layers.hpp"
#include "tinyattn/training/backward/matmul.hpp"
#include "tinyattn/training/backward/multi_head_attention.hpp"
#include "tinyattn/training/backward/pooling.hpp"
#include "tinyattn/training/backward/transformer.hpp"
#include "tinyattn/training/checkpoint.hpp"
#include "tinyattn/training/cross_entropy.hpp"
#include "tinyattn/training/detail/sequence.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/optimizer.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Whether a module has the adapters of a model.
template <class Module, class Model>
inline constexpr bool adapts = false;
template <class Model, LoraConfig lora>
inline constexpr bool adapts<Adapters<Model, lora>, Model> = true;

// What is trained through adapters: Adapted of a model and its adapters.
template <class Model, class Module>
using AdaptedBy = decltype(adapted(std::declval<const Model&>(), std::declval<const Module&>()));

// Whether a call trains with a text, with the rows of a user's model, or with those of blocks.
template <class Model, bool is_trained, class... Generator>
concept learns_text = is_trained && at_most_one<Generator...> && requires {
  Model::vocabulary;
};
template <class Model, class... Generator>
concept learns_targets = has_parts<Model> && at_most_one<Generator...>;
template <class Module, bool is_trained, class... Arguments>
concept learns_rows = is_trained && is_backward_by_training<Module, Arguments...>();

}  // namespace detail

// All that a training takes besides the model: the gradient, the state of an optimizer (Sgd,
// SgdMomentum or AdamW), activations and scratch. sizeof(Training) is the answer.
//
//   static Training<Model, AdamW> training;
//   float loss = training.backward(model, tokens, targets);
//   clip_grad_norm(training.gradient, 1.0f);
//   training.step(model, {.learning_rate = 1e-3f});
//
// The model is a LanguageModel, a TransformerBlock or a Transformer, or a struct whose Parts name
// its members. If that also names its Input, such as `using Input = Matrix<float, 8, 16>;`, each
// part takes the output of the one before; an array of layers or a struct of Parts is many. To
// freeze some of them, it names all that follow one another as its Sequence, and as Parts those
// that are trained.
//
// Or what is trained are adapters of a model, which is then only read, and may have weights of
// int8; of a LanguageModel, a TransformerBlock or a Transformer:
//
//   static Training<Model, AdamW, decltype(adapters)> tuning;
//   float loss = tuning.backward(weights::model, adapters, tokens, targets);
//   tuning.step(adapters, {.learning_rate = 1e-3f});
template <class Model, class Optimizer, class Module = Model>
struct Training {
  static constexpr bool trains_adapters = detail::adapts<Module, Model>;  // or else the model
  static_assert(trains_adapters || std::is_same_v<Model, Module>,
                "Training<Model, Optimizer> trains a model, and Training<Model, Optimizer, "
                "Adapters<Model, lora>> its adapters");
  using Config = typename Optimizer::Config;                 // the settings of a step
  using State = typename Optimizer::template State<Module>;  // the moments of an optimizer
  using Workspace = detail::PassesOf<Model>;                 // activations and scratch
  // The bytes of each member.
  static constexpr std::size_t gradient_bytes = sizeof(Module),
                               state_bytes = std::is_empty_v<State> ? 0 : sizeof(State),
                               workspace_bytes = std::is_empty_v<Workspace> ? 0 : sizeof(Workspace);

  Module gradient{};                            // a sum since the last step
  [[no_unique_address]] State state{};          // of the optimizer
  [[no_unique_address]] Workspace workspace{};  // of both passes

  // Adds to the gradient that of the mean loss of a text: the cross-entropy of the target of each
  // token, of which those that are ignore_index do not count. Returns the loss. Several texts make
  // a batch: the gradient of each is multiplied by `factor`, such as 1.0f / texts. If a token or
  // target is not below the vocabulary, or the text is longer than context_length, changes nothing
  // and returns NaN.
  //
  // After the factor there may be a Philox4x32: then there is dropout, at the rates of the model's
  // configuration, in each block of the attention weights, then of the outputs of attention, then
  // of those of the feed-forward part.
  template <std::same_as<Philox4x32>... Generator>
  requires detail::learns_text<Model, !trains_adapters, Generator...>
  constexpr float backward(const Model& model, TokenView tokens, TokenView targets,
                           float factor = 1.0f, Generator&... generator) noexcept {
    return detail::train_on_targets(model, tokens, targets, gradient, factor, workspace,
                                    generator...);
  }
  template <std::same_as<Philox4x32>... Generator>
  requires detail::learns_text<Model, trains_adapters, Generator...>
  constexpr float backward(const Model& model, const Module& adapters, TokenView tokens,
                           TokenView targets, float factor = 1.0f,
                           Generator&... generator) noexcept {
    return detail::train_on_targets(adapted(model, adapters), tokens, targets, gradient, factor,
                                    workspace, generator...);
  }

  // Adds to the gradient of a model of Parts that of the mean cross-entropy of its output: a target
  // for each row. Returns the loss, or NaN if a token or target is unknown; nothing is then
  // changed. With a generator there is dropout in attention and blocks.
  template <class Input, detail::targets_of_rows Targets, std::same_as<Philox4x32>... Generator>
  requires detail::learns_targets<Model, Generator...>
  constexpr float backward(const Model& model, const Input& input, const Targets& targets,
                           float factor = 1.0f, Generator&... generator) noexcept {
    return detail::train_parts(model, input, targets, gradient, factor, workspace,
                               detail::nth<0>(generator..., detail::no_generator));
  }

  // Adds to the gradient of a TransformerBlock or a Transformer, and writes that of x, from that of
  // its output: backward(model, x, output_gradient, input_gradient), with the mask of the forward
  // pass or num_tokens after x, and a Philox4x32 at the end. The gradients, shapes and errors are
  // those of tinyattn::backward.
  template <class... Arguments>
  requires detail::learns_rows<Model, !trains_adapters, Arguments...>
  constexpr auto backward(const Model& model, Arguments&&... arguments) noexcept {
    return detail::backward_by_training<Arguments...>(model, gradient, workspace, arguments...);
  }
  template <class... Arguments>
  requires detail::learns_rows<detail::AdaptedBy<Model, Module>, trains_adapters, Arguments...>
  constexpr auto backward(const Model& model, const Module& adapters,
                          Arguments&&... arguments) noexcept {
    return detail::backward_by_training<Arguments...>(adapted(model, adapters), gradient, workspace,
                                                      arguments...);
  }

  template <class Input, class Targets, random_generator Generator>
  requires(!std::is_same_v<Generator, Philox4x32>) constexpr detail::Diagnosed
      backward(const Model&, const Input&, const Targets&, float, Generator&) noexcept {
    static_assert(detail::no_such_call<Generator>,
                  "only a Philox4x32 replays dropout: a Mersenne twister cannot go back");
    return {};
  }
  template <std::size_t Tokens, std::size_t Targets>
  requires(Tokens != Targets) constexpr detail::Diagnosed
      backward(const Model&, const Vector<Token, Tokens>&, const Vector<Token, Targets>&,
               const auto&...) noexcept {
    static_assert(detail::no_such_call<Vector<Token, Tokens>>,
                  "a text must have a target for each of its tokens");
    return {};
  }
  template <class First>
  constexpr detail::Diagnosed backward(const First&, ...) noexcept {
    static_assert(trains_adapters || detail::no_such_call<First>,
                  "Training takes (model, tokens, targets), then a factor, then a Philox4x32, of a "
                  "LanguageModel; (model, input, targets), then these two, of a model of Parts; "
                  "(model, x, mask, output_gradient, input_gradient), the mask or not, then a "
                  "Philox4x32, of a Transformer or a block");
    static_assert(!trains_adapters || detail::no_such_call<First>,
                  "Training of adapters takes (model, adapters, tokens, targets), then a factor "
                  "and a Philox4x32; of a Transformer (model, adapters, x, mask, output_gradient, "
                  "input_gradient), the mask or not");
    return {};
  }

  // Makes a step of the optimizer, and sets the gradient to 0.
  constexpr void step(Module& trained, const Config& config) noexcept {
    Optimizer::step(trained, gradient, state, config);
    zero_grad(gradient);
  }
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
