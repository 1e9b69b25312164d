// SPDX-License-Identifier: MIT
//
// Operations with a backward pass, as in gradients.hpp: attention, its layers, blocks and models.
#pragma once

#include "cross_entropy.hpp"
#include "gradients.hpp"

#include <cstddef>

namespace tinyattn::test {

// --- Masks that are not drawn ---

constexpr bool is_masked(std::size_t i, std::size_t j) noexcept { return (3 * i + 5 * j) % 7 == 1; }
constexpr float addend(std::size_t i, std::size_t j) noexcept { return 0.25f * static_cast<float>((3 * i + 5 * j) % 7) - 1.0f; }

// A mask over keys alone has one row, row 0.
constexpr void set_elements(auto& tensor, auto element) noexcept {
  const std::size_t cols = tensor.extent(tensor.rank - 1);
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor.elements[i] = element(i / cols, i % cols);
}
template <class Mask>
requires std::is_empty_v<Mask>
constexpr void set_mask(Mask&, auto) noexcept {}
template <std::size_t... Extents>
constexpr void set_mask(BlockMask<Extents...>& mask, auto masks) noexcept {
  set_elements(mask.tensor, masks);
}
template <std::size_t... Extents>
constexpr void set_mask(KeepMask<Extents...>& mask, auto masks) noexcept {
  set_elements(mask.tensor, [&](std::size_t i, std::size_t j) { return !masks(i, j); });
}
template <std::size_t... Extents>
constexpr void set_mask(AdditiveMask<Extents...>& mask, auto masks) noexcept {
  set_elements(mask.tensor, [&](std::size_t i, std::size_t j) { return masks(i, j) ? -infinity : addend(i, j); });
}

// Returns a mask under which every query attends to a key.
template <class Mask>
inline constexpr Mask patterned = [] {
  Mask mask{};
  set_mask(mask, is_masked);
  return mask;
}();

// --- Attention ---

template <const auto& mask>
inline constexpr auto attention_gradients = [](auto& query, auto& key, auto& value, auto&... gradients) {
  scaled_dot_product_attention_backward(query, key, value, mask, gradients...);
};
template <const auto& mask, std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim, std::size_t... Batch>
using OneHeadGradient = OfFunction<attention_gradients<mask>, Tensor<float, Batch..., Tokens, ValueDim>,
                                   ThreeInputs<Tensor<float, Batch..., Tokens, KeyDim>, Tensor<float, Batch..., SourceTokens, KeyDim>,
                                               Tensor<float, Batch..., SourceTokens, ValueDim>>>;

// --- Layers, blocks and transformers ---

template <AttentionConfig config, std::size_t... Tokens>
using LayerGradient = OfModule<MultiHeadAttention<config>, Tensor<float, Tokens..., config.d_in>, Tensor<float, Tokens..., config.d_out>>;
template <BlockConfig config, std::size_t... Tokens>
using BlockGradient = OfModule<TransformerBlock<config>, Tensor<float, Tokens..., config.feed_forward.d_model>>;
template <TransformerConfig config, std::size_t... Tokens>
using TransformerGradient = OfModule<Transformer<config>, Tensor<float, Tokens..., config.block.feed_forward.d_model>>;

// With a mask; OfFirst: of the first `count` rows.
template <const auto& mask, class Operation>
struct Masked : Operation {
  static constexpr void backward(const auto& module, const auto& x, const auto& d_out, auto& d_x, auto& gradient) noexcept {
    Operation::backward(module, x, d_out, d_x, gradient, mask);
  }
};
template <std::size_t count, class Operation>
struct OfFirst : Operation {
  static constexpr void backward(const auto& module, const auto& x, const auto& d_out, auto& d_x, auto& gradient) noexcept {
    Operation::backward(module, x, d_out, d_x, gradient, opaque(count));
  }
};

// Backward of a training pass with dropout.
template <class Operation>
struct Dropped : Operation {
  static constexpr void backward(const auto& module, const auto& x, const auto& d_out, auto& d_x, auto& gradient) noexcept {
    Philox4x32 generator(opaque(123u));
    with_workspace<typename Operation::Module>(
        [&](auto& workspace) { tinyattn::backward(module, x, d_out, d_x, gradient, workspace, generator); });
  }
};

// Cross-attention to a memory that is both keys and values, with one gradient for both.
template <AttentionConfig config, const auto& mask, std::size_t Tokens, std::size_t SourceTokens, std::size_t... Batch>
struct MemoryGradient {
  using Module = MultiHeadAttention<config>;
  using Input = Inputs<Tensor<float, Batch..., Tokens, config.d_in>, Tensor<float, Batch..., SourceTokens, config.d_in>>;
  using Output = Tensor<float, Batch..., Tokens, config.d_out>;

  static constexpr void backward(const Module& module, const Input& x, const Output& d_out, auto& d_x, auto& gradient) noexcept {
    with_workspace<Module>(
        [&](auto& workspace) { tinyattn::backward(module, x.a, x.b, x.b, mask, d_out, d_x.a, d_x.b, d_x.b, gradient, workspace); });
  }
};

// Cross-attention of the first `count` queries to the first `source_count` rows of separate keys and values.
template <AttentionConfig config, std::size_t count, std::size_t source_count, std::size_t Tokens, std::size_t SourceTokens>
struct CrossGradient {
  using Module = MultiHeadAttention<config>;
  using Source = Matrix<float, SourceTokens, config.d_in>;
  using Input = ThreeInputs<Matrix<float, Tokens, config.d_in>, Source, Source>;
  using Output = Matrix<float, Tokens, config.d_out>;

  static constexpr void backward(const Module& module, const Input& x, const Output& d_out, auto& d_x, auto& gradient) noexcept {
    with_workspace<Module>([&](auto& workspace) {
      static_cast<void>(tinyattn::backward(module, x.a, x.b, x.c, opaque(count), opaque(source_count), NoMask{}, d_out, d_x.a, d_x.b, d_x.c,
                                           gradient, workspace));
    });
  }
};

// --- Language models ---

// A text in which some tokens occur twice.
template <std::size_t Tokens>
constexpr auto some_tokens(std::size_t vocabulary) noexcept {
  Vector<Token, Tokens> tokens{};
  for (std::size_t i = 0; i < Tokens; ++i) tokens(i) = static_cast<Token>((3 * i * i + 2) % vocabulary);
  return tokens;
}

template <LanguageModelConfig config, std::size_t Tokens>
struct TextGradient {
  using Module = LanguageModel<config>;
  using Input = None<0>;
  using Output = Matrix<float, Tokens, config.vocabulary>;

  static constexpr void backward(const Module& model, const Input&, const Output& d_out, auto&, auto& gradient) noexcept {
    with_workspace<Module>([&](auto& workspace) {
      static_cast<void>(tinyattn::backward(model, some_tokens<Tokens>(config.vocabulary), d_out, no_gradient, gradient, workspace));
    });
  }
};

// The gradient of the mean loss, by Training; d_out is its factor. Some targets are ignored.
template <LanguageModelConfig config, std::size_t Tokens, bool drops = false>
struct LossGradient {
  using Module = LanguageModel<config>;
  using Input = None<0>;
  using Output = Vector<float, 1>;
  static constexpr auto tokens = some_tokens<Tokens>(config.vocabulary), targets = some_targets<Tokens>(config.vocabulary);

  static constexpr void backward(const Module& model, const Input&, const Output& d_out, auto&, auto& gradient) noexcept {
    Training<Module, Sgd> training;
    Philox4x32 generator(opaque(123u));
    training.gradient = gradient;
    if constexpr (drops)
      static_cast<void>(training.backward(model, tokens, targets, d_out(0), generator));
    else
      static_cast<void>(training.backward(model, tokens, targets, d_out(0)));
    gradient = training.gradient;
  }
};

// An optimizer's state as a base class: one for each optimizer of a pack.
template <class Optimizer, class Model>
struct StateOf {
  typename Optimizer::template State<Model> state{};
};

// Two steps of an optimizer, each for two texts, with clipping; then two steps of each other optimizer.
template <LanguageModelConfig config, std::size_t Tokens, bool drops, class Optimizer, class... Others>
struct TrainingSteps : StateOf<Others, LanguageModel<config>>... {
  using Model = LanguageModel<config>;

  Model model;
  Guarded<Training<Model, Optimizer>> training;
  Philox4x32 generator{opaque(123u)};

  constexpr void operator()(Draw& draw, auto& outputs) noexcept {
    draw(model);
    two_steps(outputs, [&] { training.tensor.step(model, {.learning_rate = 0.0625f, .weight_decay = 0.125f}); });
    (go_on<Others>(outputs), ...);
    for_each_parameter(model, [&](const char* name, const auto& tensor) { outputs.take(name, tensor); });
    outputs.check_guards(training);
  }

 private:
  template <class Other>
  constexpr void go_on(auto& outputs) noexcept {
    two_steps(outputs, [&] {
      Other::step(model, training.tensor.gradient, StateOf<Other, Model>::state, {.learning_rate = 0.0625f, .weight_decay = 0.125f});
      zero_grad(training.tensor.gradient);
    });
  }
  constexpr void two_steps(auto& outputs, auto step) noexcept {
    for (int i = 0; i < 2; ++i) {
      outputs.take("losses", vector({loss(3), loss(5)}));
      outputs.take("norm", vector({clip_grad_norm(training.tensor.gradient, 0.5f)}));
      step();
    }
  }
  // The loss of a text that begins with a given token. Not inlined, so that all optimizers share its code.
  [[gnu::noinline]] constexpr float loss(Token first) noexcept {
    auto tokens = some_tokens<Tokens>(config.vocabulary);
    const auto targets = some_targets<Tokens>(config.vocabulary);
    tokens(0) = first % config.vocabulary;
    if constexpr (drops)
      return training.tensor.backward(model, tokens, targets, 0.5f, generator);
    else
      return training.tensor.backward(model, tokens, targets, 0.5f);
  }
};

}  // namespace tinyattn::test
