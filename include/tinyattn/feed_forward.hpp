// SPDX-License-Identifier: MIT
//
// The feed-forward part of a transformer block.
#pragma once

#include "tinyattn/activation.hpp"
#include "tinyattn/detail/attention_shape.hpp"
#include "tinyattn/detail/config_checks.hpp"
#include "tinyattn/detail/layer_checks.hpp"
#include "tinyattn/detail/operands.hpp"
#include "tinyattn/detail/optional.hpp"
#include "tinyattn/kernel/block.hpp"
#include "tinyattn/linear.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn {

// The shape of a feed-forward layer, which maps d_model features to d_hidden, and these to d_model.
struct FeedForwardConfig {
  std::size_t d_model;                       // features of a token
  std::size_t d_hidden;                      // features between the projections
  Activation activation = Activation::gelu;  // of the hidden features, or of the gate
  bool gated = false;  // a third projection, whose activation multiplies the hidden features
  bool bias = true;    // whether all projections have biases
  Weights weights = Weights::f32;  // of all projections
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Applies a feed-forward layer, which may have adapters, to each row of x.
template <auto config, class TensorX, class Out, class Workspace>
TINYATTN_ALWAYS_INLINE constexpr void forward_hidden(const auto& layer, const TensorX& x, Out& out,
                                                     Workspace& workspace) noexcept {
  using Layout = LayoutOf<TensorX>;
  if constexpr (check_rows_of_layer<config.d_model, config.d_model, TensorX, Out>())
    on_native_port([&](auto port) {
      constexpr std::size_t most = Workspace::rows;
      for (std::size_t element = 0; element < Layout::batch; ++element)
        for (std::size_t first = 0; first < Layout::rows; first += most)
          kernel::feed_forward<decltype(port)>(
              describe(layer), kernel::minimum(most, Layout::rows - first),
              input(x, element).from(first, 0), output(out, element).from(first, 0),
              workspace.scratch, workspace.integers.parts());
    });
}

}  // namespace detail

// Computes down(activation(up(x))): Vaswani et al., "Attention Is All You Need", 2017, section 3.3.
// If gated, computes down(activation(gate(x)) * up(x)), which with silu is SwiGLU: Shazeer, "GLU
// Variants Improve Transformer", 2020.
template <FeedForwardConfig config>
struct FeedForward {
  static_assert(detail::check_feed_forward_config<config>());

  // The sizes in config. A size of 0 is 1 here, so that the members do not diagnose it again after
  // the static_assert above.
  static constexpr std::size_t d_model = config.d_model == 0 ? 1 : config.d_model,
                               d_hidden = config.d_hidden == 0 ? 1 : config.d_hidden;
  using Up = Linear<d_model, d_hidden, config.bias, config.weights>;    // type of up and gate
  using Down = Linear<d_hidden, d_model, config.bias, config.weights>;  // type of down

  Up up;                                                            // [d_model, d_hidden]
  [[no_unique_address]] detail::Optional<config.gated, Up> gate{};  // [d_model, d_hidden]
  Down down;                                                        // [d_hidden, d_model]

  // All the scratch of a call, which processes `rows` rows at a time. Nothing is kept between
  // calls.
  struct Workspace {
    static constexpr std::size_t rows = kernel::feed_forward_rows<native_port>;  // at a time
    float scratch[kernel::hidden_scratch(rows, d_hidden, config.gated)];         // hidden features
    [[no_unique_address]] detail::IntegerWorkspace<detail::integer_width_of_feed_forward<config>,
                                                   rows>
        integers;  // of inputs
  };

  // Applies the layer to each row of x. x and out are [..., d_model], with any number of rows; out
  // may be x.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out, Workspace& workspace) const noexcept {
    detail::forward_hidden<config>(*this, x, out, workspace);
  }

  TINYATTN_DIAGNOSTIC(class First = detail::Anything, forward(const First&, ...) const,
                      "forward takes (x, out, workspace): out is a tensor or a MatrixView, neither "
                      "const nor a temporary, and workspace is this layer's Workspace")

  TINYATTN_MODULE(FeedForward, up, gate, down)

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const FeedForward& layer) noexcept {
    return kernel::FeedForward<detail::KernelWeight<config.weights>>{
        config.d_model,     config.d_hidden,      config.activation,
        describe(layer.up), describe(layer.gate), describe(layer.down)};
  }
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
