// SPDX-License-Identifier: MIT
//
// The backward pass of the feed-forward part of a block. Hidden features are computed again.
#pragma once

#include "tinyattn/kernel/feed_forward.hpp"
#include "tinyattn/training/kernel/activation.hpp"
#include "tinyattn/training/kernel/projection.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The gradients of the projections, to which a backward pass adds.
struct FeedForwardGradient {
  ProjectionGradient up, gate, down;
};

// Returns how many floats of scratch `rows` rows need: hidden features, gates and gradients.
constexpr std::size_t hidden_backward_scratch(std::size_t rows, std::size_t d_hidden,
                                              bool is_gated) noexcept {
  return rows * d_hidden * (is_gated ? 3 : 2);
}

// Adds to the gradients of all projections, and computes d_x, or nothing if d_x is null: one chain
// for each element, of the product of up, which that of the gate continues. d_x may be x or d_out.
template <class Port>
TINYATTN_KERNEL void feed_forward_backward(const auto& layer, const FeedForwardGradient& gradient,
                                           std::size_t rows, Dense x, Dense d_out, Output d_x,
                                           float* scratch, const auto& integers) noexcept {
  const std::size_t d_model = layer.d_model, d_hidden = layer.d_hidden, count = rows * d_hidden;
  const bool is_gated = !is_null(layer.gate.weight);
  const Output hidden{scratch, d_hidden}, d{scratch + count, d_hidden},
      gates{is_gated ? scratch + 2 * count : nullptr, d_hidden};
  const auto input = input_of<Port>(layer.up, rows, d_model, x, integers);
  project_again<Port>(rows, d_model, d_hidden, input, layer.up, hidden);
  project_backward<Port>(rows, d_hidden, d_model, d_out, layer.down.weight, d);
  if (is_gated) {
    project_again<Port>(rows, d_model, d_hidden, input, layer.gate, gates);
    gate_and_backward_row<Port>(layer.activation, gates.data, hidden.data, d.data, count);
  } else {
    activate_and_backward_row<Port>(layer.activation, hidden.data, d.data, count);
  }
  add_projection_gradient<Port>(rows, d_hidden, d_model, hidden, d_out, layer.down.weight,
                                gradient.down);
  add_projection_gradient<Port>(rows, d_model, d_hidden, x, d, layer.up.weight, gradient.up);
  if (is_gated)
    add_projection_gradient<Port>(rows, d_model, d_hidden, x, gates, layer.gate.weight,
                                  gradient.gate);
  if (is_null(d_x.data)) return;
  project_backward<Port>(rows, d_model, d_hidden, d, layer.up.weight, d_x);
  if (is_gated)
    project_backward<Port, true>(rows, d_model, d_hidden, gates, layer.gate.weight, d_x);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
