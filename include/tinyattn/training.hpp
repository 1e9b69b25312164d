// SPDX-License-Identifier: MIT
//
// Training: gradients of all layers, optimizers, adapters, and weights that survive a loss of
// power. A program that only infers does not include this header.
#pragma once

#include "tinyattn/backward/activation.hpp"
#include "tinyattn/backward/attention.hpp"
#include "tinyattn/backward/convolution.hpp"
#include "tinyattn/backward/embedding.hpp"
#include "tinyattn/backward/feed_forward.hpp"
#include "tinyattn/backward/gradient.hpp"
#include "tinyattn/backward/language_model.hpp"
#include "tinyattn/backward/linear.hpp"
#include "tinyattn/backward/matmul.hpp"
#include "tinyattn/backward/multi_head_attention.hpp"
#include "tinyattn/backward/normalization.hpp"
#include "tinyattn/backward/pooling.hpp"
#include "tinyattn/backward/softmax.hpp"
#include "tinyattn/backward/transformer.hpp"
#include "tinyattn/checkpoint.hpp"
#include "tinyattn/cross_entropy.hpp"
#include "tinyattn/optimizer.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// All that the training of a model takes besides the model: its gradient, the state of an optimizer
// (Sgd, SgdMomentum or AdamW), activations and scratch. sizeof(Training) is the answer. The model
// is a LanguageModel, a Transformer, or a struct whose Parts name its members.
//
//   float loss = training.backward(model, tokens, targets);
//   clip_grad_norm(training.gradient, 1.0f);
//   training.step(model, {.learning_rate = 1e-3f});
template <class Model, class Optimizer>
struct Training {
  using Config = typename Optimizer::Config;                // the settings of a step
  using State = typename Optimizer::template State<Model>;  // the moments of an optimizer
  using Workspace = BackwardWorkspace<Model>;               // activations and scratch
  // The bytes of each member.
  static constexpr std::size_t gradient_bytes = sizeof(Model),
                               state_bytes = Optimizer::template state_bytes<Model>,
                               workspace_bytes = sizeof(Workspace);

  Model gradient{};
  [[no_unique_address]] State state{};
  [[no_unique_address]] Workspace workspace{};

  // Adds to the gradient that of the mean loss of a text: the cross-entropy of the target of each
  // token, of which those that are ignore_index do not count. Returns the loss. Several texts make
  // a batch: the gradient of each is multiplied by `factor`, such as 1.0f / texts. If a token or
  // target is not below the vocabulary, or the text is longer than context_length, changes nothing
  // and returns NaN.
  constexpr float backward(const Model& model, TokenView tokens, TokenView targets,
                           float factor = 1.0f) noexcept {
    return detail::train_on_targets(model, tokens, targets, gradient, factor, workspace,
                                    detail::NoGenerator{});
  }

  // The same with dropout, at the rates of the model's configuration: first of the attention
  // weights of a block, then of the outputs of its attention and of its feed-forward part.
  constexpr float backward(const Model& model, TokenView tokens, TokenView targets, float factor,
                           Philox4x32& generator) noexcept {
    const Philox4x32 before = generator;
    generator = detail::stream_after(generator, detail::streams_of<typename Model::Body>);
    return detail::train_on_targets(model, tokens, targets, gradient, factor, workspace, before);
  }

  // Makes a step of the optimizer, and sets the gradient to 0.
  constexpr void step(Model& model, const Config& config) noexcept {
    Optimizer::step(model, gradient, state, config);
    zero_grad(gradient);
  }
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
