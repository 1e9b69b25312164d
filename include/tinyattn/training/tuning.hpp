// SPDX-License-Identifier: MIT
//
// The backward pass of adapted models, whose weights are frozen: only adapters have gradients. Of
// int8 weights a gradient passes through the floats that they stand for.
#pragma once

#include "tinyattn/training/adapted.hpp"
#include "tinyattn/training/backward/feed_forward.hpp"
#include "tinyattn/training/backward/language_model.hpp"
#include "tinyattn/training/backward/multi_head_attention.hpp"
#include "tinyattn/training/backward/transformer.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/adapter_gradient.hpp"
#include "tinyattn/training/optimizer.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

template <class Module, LoraConfig lora>
struct Trained<Adapted<Module, lora>> {
  using Base = Module;
  using Gradient = Adapters<Module, lora>;
};

// Adapted modules take every form of the backward pass of their base, and its workspace.
template <AttentionConfig of_layer, LoraConfig lora>
struct AttentionOf<Adapted<MultiHeadAttention<of_layer>, lora>>
    : AttentionOf<MultiHeadAttention<of_layer>> {
  static constexpr bool is_trained = true;
};
template <FeedForwardConfig of_layer, LoraConfig lora>
struct HiddenOf<Adapted<FeedForward<of_layer>, lora>> : HiddenOf<FeedForward<of_layer>> {
  static constexpr bool is_trained = true;
};
template <BlockConfig config, LoraConfig lora>
struct BlocksOf<Adapted<TransformerBlock<config>, lora>> : BlocksOf<TransformerBlock<config>> {
  static constexpr bool is_trained = true;
};
template <TransformerConfig config, LoraConfig lora>
struct BlocksOf<Adapted<Transformer<config>, lora>> : BlocksOf<Transformer<config>> {
  static constexpr bool is_trained = true;
};

}  // namespace detail

// Of an adapted Linear: adds to the gradients of A and B, and writes that of x. Shapes are those of
// Linear's backward pass. `gradient` is an Adapters of the layer, or no_gradient.
template <std::size_t In, std::size_t Out, bool Bias, Weights weights, LoraConfig lora,
          tensor_like TensorX, tensor_like OutputGradient, class InputGradient, class Gradient>
constexpr void backward(const Adapted<Linear<In, Out, Bias, weights>, lora>& linear,
                        const TensorX& x, const OutputGradient& output_gradient,
                        InputGradient& input_gradient, Gradient& gradient) noexcept {
  using Layout = detail::LayoutOf<TensorX>;
  using Module = Adapted<Linear<In, Out, Bias, weights>, lora>;
  if constexpr (detail::check_backward_input<In, TensorX>() &&
                detail::check_backward<Module, OutputGradient, detail::WithCols<TensorX, Out>,
                                       InputGradient, TensorX, Gradient>())
    on_native_port([&](auto port) {
      using Port = decltype(port);
      const auto weight = describe(linear).weight;
      for (std::size_t i = 0; i < Layout::batch; ++i) {
        const kernel::Dense d_out = detail::input(output_gradient, i);
        kernel::add_projection_gradient<Port>(Layout::rows, In, Out, detail::input(x, i), d_out,
                                              weight, detail::projection_gradient(gradient));
        if constexpr (!detail::is_no_gradient<InputGradient>)
          kernel::project_backward<Port>(Layout::rows, In, Out, d_out, weight,
                                         detail::output(input_gradient, i));
      }
    });
}

// Training is in training.hpp. What is trained is a model, or its Adapters.
template <class Model, class Optimizer, class Module = Model>
struct Training;

// All that the training of adapters takes besides the model, which is only read, and the adapters:
// their gradient, the state of an optimizer, activations and scratch of the model. The model is a
// LanguageModel, a TransformerBlock or a Transformer, with weights of floats or of int8.
//
//   static Training<Model, AdamW, decltype(adapters)> tuning;
//   float loss = tuning.backward(weights::model, adapters, tokens, targets);
//   tuning.step(adapters, {.learning_rate = 1e-3f});
template <class Model, class Optimizer, LoraConfig lora>
struct Training<Model, Optimizer, Adapters<Model, lora>> {
  using Module = Adapters<Model, lora>;                      // what is trained
  using Config = typename Optimizer::Config;                 // the settings of a step
  using State = typename Optimizer::template State<Module>;  // the moments of an optimizer
  using Workspace = detail::PassesOf<Model>;                 // activations and scratch
  // The bytes of each member.
  static constexpr std::size_t gradient_bytes = sizeof(Module),
                               state_bytes = Optimizer::template state_bytes<Module>,
                               workspace_bytes = std::is_empty_v<Workspace> ? 0 : sizeof(Workspace);

  Module gradient{};                            // a sum since the last step
  [[no_unique_address]] State state{};          // of the optimizer
  [[no_unique_address]] Workspace workspace{};  // of both passes

  // Adds to the gradient that of the mean loss of a text, as the Training of a LanguageModel does.
  template <class Self = Model>
  requires requires { Self::vocabulary; }
  constexpr float backward(const Model& model, const Module& adapters, TokenView tokens,
                           TokenView targets, float factor = 1.0f) noexcept {
    return detail::train_on_targets(adapted(model, adapters), tokens, targets, gradient, factor,
                                    workspace);
  }

  // The same with dropout, at the rates of the model's configuration.
  template <class Self = Model>
  requires requires { Self::vocabulary; }
  constexpr float backward(const Model& model, const Module& adapters, TokenView tokens,
                           TokenView targets, float factor, Philox4x32& generator) noexcept {
    return detail::train_on_targets(adapted(model, adapters), tokens, targets, gradient, factor,
                                    workspace, generator);
  }

  // Adds to the gradient of the adapters of a TransformerBlock or a Transformer, and writes that of
  // x, as the Training of those does: backward(model, adapters, x, output_gradient,
  // input_gradient).
  template <class... Arguments>
  requires(detail::is_backward_by_training<
           Adapted<Model, lora>,
           Arguments...>()) constexpr auto backward(const Model& model, const Module& adapters,
                                                    Arguments&&... arguments) noexcept {
    return detail::backward_by_training<Arguments...>(adapted(model, adapters), gradient, workspace,
                                                      arguments...);
  }

  TINYATTN_DIAGNOSTIC(class First, backward(const First&, ...),
                      "Training of adapters takes (model, adapters, tokens, targets), then a "
                      "factor and a Philox4x32; of a Transformer (model, adapters, x, mask, "
                      "output_gradient, input_gradient), the mask or not")

  // Makes a step of the optimizer, and sets the gradient to 0.
  constexpr void step(Module& adapters, const Config& config) noexcept {
    Optimizer::step(adapters, gradient, state, config);
    zero_grad(gradient);
  }
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
