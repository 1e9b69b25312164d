// SPDX-License-Identifier: MIT
//
// Operations with adapters: a module is a layer, whose gradient stays as it is, and its adapters.
#pragma once

#include "gradients_of_attention.hpp"

#include <cstddef>
#include <type_traits>

namespace tinyattn::test {

// A layer and its adapters. The layer's gradient stays as it is.
template <class Layer, LoraConfig lora>
struct WithAdapters {
  Layer layer{};
  Adapters<Layer, lora> adapters{};

  friend constexpr bool operator==(const WithAdapters&, const WithAdapters&) = default;

  static constexpr auto members(auto& self, const auto& use) { return use(detail::names<"layer", "adapters">, self.layer, self.adapters); }
};

template <class Layer, LoraConfig lora, class X, class Out = X>
struct AdaptedGradient {
  using Module = WithAdapters<Layer, lora>;
  using Input = X;
  using Output = Out;

  static constexpr void forward(const Module& module, const Input& x, Output& out) noexcept {
    const auto through = adapted(module.layer, module.adapters);
    if constexpr (requires { typename Layer::Workspace; }) {
      typename Layer::Workspace workspace;
      through.forward(x, out, workspace);
    } else {
      through.forward(x, out);
    }
  }
  static constexpr void backward(Library, const Module& module, const Input& x, const Output& d_out, auto& d_x, auto& gradient) noexcept {
    const auto through = adapted(module.layer, module.adapters);
    if constexpr (requires { sizeof(BackwardWorkspace<Layer>); }) {
      BackwardWorkspace<Layer> workspace;
      tinyattn::backward(through, x, d_out, d_x, gradient.adapters, workspace);
    } else {
      tinyattn::backward(through, x, d_out, d_x, gradient.adapters);
    }
  }
  static constexpr void backward(Twin, const Module& module, const Input& x, const Output& d_out, auto& d_x, auto& gradient) noexcept {
    const plain::Adapter adapter{plain::view(module.adapters.lora_A), plain::view(module.adapters.lora_B), module.adapters.scale};
    plain::rows_backward(plain::described(module.layer), adapter, plain::view(x), plain::view(d_out), plain::view(d_x),
                         plain::view(gradient.adapters.lora_A), plain::view(gradient.adapters.lora_B));
  }
};

// The cross-entropy of a language model with adapters; the gradient of the loss is the factor of a batch.
template <LanguageModelConfig config, LoraConfig lora, std::size_t Tokens>
struct AdaptedLoss {
  using Layer = LanguageModel<config>;
  using Module = WithAdapters<Layer, lora>;
  using Input = None<0>;
  using Output = Vector<float, 1>;
  static constexpr auto tokens = some_tokens<Tokens>(config.vocabulary), targets = some_targets<Tokens>(config.vocabulary);

  static constexpr void backward(Library, const Module& module, const Input&, const Output& d_out, auto&, auto& gradient) noexcept {
    Training<Layer, Sgd, Adapters<Layer, lora>> training{};
    training.backward(module.layer, module.adapters, tokens, targets, d_out(0));
    gradient.adapters = training.gradient;
  }
};

}  // namespace tinyattn::test
