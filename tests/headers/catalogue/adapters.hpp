// SPDX-License-Identifier: MIT
//
// Operations with adapters: a module is a frozen layer and its adapters.
#pragma once

#include "gradients_of_attention.hpp"

#include <cstddef>
#include <type_traits>

namespace tinyattn::test {

// A layer and its adapters. The layer is frozen: its gradient stays as it is.
template <class Layer, LoraConfig lora>
struct WithAdapters {
  Layer layer{};
  Adapters<Layer, lora> adapters{};

  friend constexpr bool operator==(const WithAdapters&, const WithAdapters&) = default;

  using Members = detail::Members<detail::names<"layer", "adapters">, &WithAdapters::layer, &WithAdapters::adapters>;
};

template <class Layer, LoraConfig lora, class X, class Out = X>
struct AdaptedGradient {
  using Module = WithAdapters<Layer, lora>;
  using Input = X;
  using Output = Out;

  static constexpr void backward(const Module& module, const auto& x, const auto& d_out, auto& d_x, auto& gradient) noexcept {
    const auto through = adapted(module.layer, module.adapters);
    with_workspace<Layer>([&](auto&... workspace) {
      if constexpr (requires { gradient.adapters; })
        tinyattn::backward(through, x, d_out, d_x, gradient.adapters, workspace...);
      else
        tinyattn::backward(through, x, d_out, d_x, no_gradient, workspace...);
    });
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

  static constexpr void backward(const Module& module, const Input&, const Output& d_out, auto&, auto& gradient) noexcept {
    Training<Layer, Sgd, Adapters<Layer, lora>> training{};
    training.backward(module.layer, module.adapters, tokens, targets, d_out(0));
    gradient.adapters = training.gradient;
  }
};

}  // namespace tinyattn::test
