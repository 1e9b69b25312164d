// SPDX-License-Identifier: MIT
//
// The feed-forward part of a transformer's block.
#pragma once

#include "tinyattn/kernel/activation.hpp"
#include "tinyattn/kernel/int8/activation.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

template <class Weight = const float*>
struct FeedForward {
  std::size_t d_model, d_hidden;
  Activation activation;
  Projection<Weight> up, gate, down;  // without a gate, its weight is nullptr
};

// Returns how many floats of scratch `rows` rows need.
constexpr std::size_t hidden_scratch(std::size_t rows, std::size_t d_hidden,
                                     bool is_gated) noexcept {
  return rows * d_hidden * (is_gated ? 2 : 1);
}

// out = down(activation(up(x))), or down(activation(gate(x)) * up(x)); `out` may be x.
template <class Port, class Weight>
TINYATTN_KERNEL void feed_forward(const FeedForward<Weight>& layer, std::size_t rows, Dense x,
                                  Output out, float* scratch, const auto&) noexcept {
  const std::size_t d_model = layer.d_model, d_hidden = layer.d_hidden, count = rows * d_hidden;
  const Output hidden{scratch, d_hidden};
  project_few<Port>(rows, d_model, d_hidden, x, layer.up, hidden);
  if (is_null(layer.gate.weight)) {
    activate_row<Port>(layer.activation, scratch, scratch, count);
  } else {
    float* const gates = scratch + count;
    project_few<Port>(rows, d_model, d_hidden, x, layer.gate, {gates, d_hidden});
    gate_row<Port>(layer.activation, gates, scratch, count);
  }
  project_few<Port>(rows, d_hidden, d_model, hidden, layer.down, out);
}

// The same with int8 weights, and the activation in integers.
template <class Port>
TINYATTN_KERNEL void feed_forward(const FeedForward<Int8Weights>& layer, std::size_t rows, Dense x,
                                  Output out, float* scratch,
                                  const IntegerScratch& integers) noexcept {
  const std::size_t d_model = layer.d_model, d_hidden = layer.d_hidden;
  const bool is_gated = !is_null(layer.gate.weight);
  const Output hidden{scratch, d_hidden}, gates{scratch + rows * d_hidden, d_hidden};
  const IntegerRows input = input_of<Port>(layer.up, rows, d_model, x, integers);
  project_few<Port>(rows, d_model, d_hidden, input, layer.up, hidden);
  if (is_gated) project_few<Port>(rows, d_model, d_hidden, input, layer.gate, gates);
  const IntegerRows activated{integers.q, integer_row(d_hidden)};
  activate_rows_in_integers<Port>(layer.activation, rows, d_hidden, is_gated ? gates.data : nullptr,
                                  scratch, activated);
  project_few<Port>(rows, d_hidden, d_model, activated, layer.down, out);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
