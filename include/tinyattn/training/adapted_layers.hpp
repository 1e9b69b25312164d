// SPDX-License-Identifier: MIT
//
// Layers that compute through their adapters, which stay apart from the weights.
#pragma once

#include "tinyattn/detail/attention_calls.hpp"
#include "tinyattn/feed_forward.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/training/adapters.hpp"

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
TINYATTN_DIAGNOSTIC(class First, adapted(const First&, ...),
                    "adapted takes (model, adapters): Adapters of the type of the model")
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
          kernel::project<decltype(port), kernel::Shape{LayoutX::rows}>(
              LayoutX::rows, In, Out, detail::input(x, element), describe(*this),
              detail::output(out, element), integers.parts());
      });
  }

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Adapted& self) noexcept {
    return describe(self.base, self.adapters);
  }
};

// Of an attention layer. forward takes what that of MultiHeadAttention takes, and computes the same
// with other projections.
template <AttentionConfig config, LoraConfig lora>
struct Adapted<MultiHeadAttention<config>, lora>
    : detail::AdaptedBase<MultiHeadAttention<config>, lora> {
  using Layer = MultiHeadAttention<config>;     // the layer that is adapted
  using Workspace = typename Layer::Workspace;  // all the scratch of a call
  using Cache = typename Layer::Cache;          // the keys and values of the tokens so far
  static constexpr DropoutRate dropout_rate = Layer::dropout_rate;  // of attention weights
  static constexpr DropoutRate residual_dropout_rate = Layer::residual_dropout_rate;  // of outputs

  // As forward of the layer, in all its forms.
  template <class... Arguments>
  requires(detail::is_forward<Layer, config, Arguments...>()) TINYATTN_ALWAYS_INLINE
      constexpr auto forward(Arguments&&... arguments) const noexcept {
    return detail::forward_attention<config, Arguments...>(*this, arguments...);
  }

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Adapted& self) noexcept {
    return detail::describe_attention<config>(self.base, self.adapters);
  }
};

// Of a feed-forward layer. forward takes what that of FeedForward takes.
template <FeedForwardConfig config, LoraConfig lora>
struct Adapted<FeedForward<config>, lora> : detail::AdaptedBase<FeedForward<config>, lora> {
  using Workspace = typename FeedForward<config>::Workspace;  // all the scratch of a call

  // Applies the layer to each row of x. x and out are [..., d_model]; out may be x.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out, Workspace& workspace) const noexcept {
    detail::forward_hidden<config>(*this, x, out, workspace);
  }

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

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
