// SPDX-License-Identifier: MIT
//
// Operations with adapters: a module is a layer, whose gradient stays as it is, and its adapters.
#pragma once

#include "gradients_of_attention.hpp"

#include <cstddef>
#include <type_traits>

namespace tinyattn::test {

namespace plain {

// low = s * (x . A)
constexpr void project_to_rank(Input x, Input a, float scale, Output low) noexcept {
  matmul(x, a, low);
  for (Size i = 0; i < low.rows; ++i)
    for (Size r = 0; r < low.cols; ++r) low(i, r) = product(low(i, r), scale);
}
// out[i][j] goes on with the sum over r of low[i][r] * b[r][j].
constexpr void add_from_rank(Input low, Input b, Output out) noexcept {
  for (Size r = 0; r < b.rows; ++r)
    for (Size i = 0; i < out.rows; ++i)
      for (Size j = 0; j < out.cols; ++j) out(i, j) = fma(low(i, r), b(r, j), out(i, j));
}

// The backward pass of an adapted Linear, for a matrix x.
constexpr void adapted_backward(const auto& linear, const auto& adapters, const auto& x, const auto& d_out, auto& d_x,
                                auto& gradient) noexcept {
  constexpr Size rank = std::remove_cvref_t<decltype(adapters)>::rank;
  const Input a = view(adapters.lora_A), b = view(adapters.lora_B);
  Tensor<float, LayoutOf<std::remove_cvref_t<decltype(x)>>::rows, rank> low;
  project_to_rank(view(x), a, adapters.scale, view(low));
  add_outer(view(low), view(d_out), view(gradient.lora_B));
  project_to_rank(view(d_out), b.transposed(), adapters.scale, view(low));
  add_outer(view(x), view(low), view(gradient.lora_A));
  fill_with_zeros(d_x);
  add_product(view(d_out), view(linear.weight), view(d_x));
  add_product(view(low), a, view(d_x));
}

}  // namespace plain

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
    plain::adapted_backward(module.layer, module.adapters, x, d_out, d_x, gradient.adapters);
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
