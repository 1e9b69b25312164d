// SPDX-License-Identifier: MIT
//
// Low-rank adapters of projections: x . weight + bias + (s * (x . A)) . B. The sums of the base go
// on as chains of fma over the rank. Hu et al., "LoRA", 2021, section 4.1.
//
// In the backward pass low = s * (x . A) is rounded as in the forward pass, and d_low = s * (d_out
// . B^T) is a chain from +0 that is rounded again:
//
//   d_B += low^T . d_out
//   d_A += x^T . d_low
//   d_x = d_out . weight^T + d_low . A^T, one chain: the base first
#pragma once

#include "tinyattn/kernel/feed_forward.hpp"
#include "tinyattn/kernel/int8/product.hpp"
#include "tinyattn/training/kernel/projection.hpp"
#include "tinyattn/training/kernel/transposed_product.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// A low-rank weight. A projection without one has null pointers.
template <std::size_t Rank>
struct Adapter {
  static constexpr std::size_t rank = Rank;
  const float* a = nullptr;  // [in, Rank]
  const float* b = nullptr;  // [Rank, out]
  float scale = 0.0f;        // s
};

// The weight of an adapted projection; `Base` is that of any other.
template <class Base, std::size_t Rank>
struct AdaptedWeight {
  Base base;
  Adapter<Rank> adapter;

  TINYATTN_ALWAYS_INLINE friend constexpr bool is_null(const AdaptedWeight& weight) noexcept {
    return is_null(weight.base);
  }
};
template <class Base, std::size_t Rank>
TINYATTN_KERNEL Projection<Base> base_of(
    const Projection<AdaptedWeight<Base, Rank>>& projection) noexcept {
  return {projection.weight.base, projection.bias};
}

// The number of rows that pass through a rank at a time: their scratch is on the stack, 256 bytes
// where memory is scarce, 1 KB elsewhere, or one row.
template <class Port, std::size_t Rank>
inline constexpr std::size_t rows_of_rank = maximum(1, (Port::shares_code ? 64 : 256) / Rank);

// x[i] *= scale
template <class Port>
TINYATTN_KERNEL void multiply_by(float scale, float* x, std::size_t count) noexcept {
  transform_row<Port>(x, x, count, [=](auto v) TINYATTN_INLINE_LAMBDA {
    return Port::mul(v, Port::broadcast(scale));
  });
}

// low = s * (x . A), [rows, Rank]: each product is a chain from +0, and is then rounded again.
template <class Port, std::size_t Rank>
TINYATTN_KERNEL void project_to_rank(std::size_t rows, std::size_t in, Dense x,
                                     const Adapter<Rank>& adapter, float* low) noexcept {
  matmul<Port>(Product<>{rows, in, Rank, x, {adapter.a, Rank}, nullptr, {low, Rank}});
  multiply_by<Port>(adapter.scale, low, rows * Rank);
}

// out += (s * (x . A)) . B
template <class Port, std::size_t Rank>
constexpr void add_adapter(std::size_t rows, std::size_t in, std::size_t cols, Dense x,
                           const Adapter<Rank>& adapter, Output out) noexcept {
  if (is_null(adapter.a)) return;
  constexpr std::size_t most = rows_of_rank<Port, Rank>;
  for (std::size_t first = 0; first < rows; first += most) {
    float low[most * Rank];
    const std::size_t count = minimum(most, rows - first);
    project_to_rank<Port>(count, in, x.from(first, 0), adapter, low);
    add_product<Port>(count, Rank, cols, {low, Rank}, {adapter.b, cols}, out.from(first, 0));
  }
}

// weight += (s * A) . B, [in, cols]
template <class Port, std::size_t Rank>
constexpr void merge_adapter(std::size_t in, std::size_t cols, const Adapter<Rank>& adapter,
                             Output weight) noexcept {
  for (std::size_t i = 0; i < in; ++i) {
    float low[Rank];
    for (std::size_t r = 0; r < Rank; ++r) low[r] = adapter.a[i * Rank + r];
    multiply_by<Port>(adapter.scale, low, Rank);
    add_product<Port>(1, Rank, cols, {low, Rank}, {adapter.b, cols}, weight.from(i, 0));
  }
}

// --- Forward ---

template <class Port, Shape shape = Shape{}, class Base, std::size_t Rank>
TINYATTN_KERNEL void project(std::size_t rows, std::size_t in, std::size_t cols, Dense x,
                             const Projection<AdaptedWeight<Base, Rank>>& to, Output out,
                             const auto& integers) noexcept {
  project<Port, shape>(rows, in, cols, x, base_of(to), out, integers);
  add_adapter<Port>(rows, in, cols, x, to.weight.adapter, out);
}

// Rows of an input of int8 weights: as adapters take them, and as the base does.
struct AdaptedInput {
  Dense x;
  IntegerRows of_base;
};

template <class Port, std::size_t Rank>
TINYATTN_KERNEL AdaptedInput input_of(const Projection<AdaptedWeight<Int8Weights, Rank>>& to,
                                      std::size_t rows, std::size_t in, Dense x,
                                      const IntegerScratch& integers) noexcept {
  return {x, input_of<Port>(base_of(to), rows, in, x, integers)};
}

template <class Port, class Base, std::size_t Rank>
TINYATTN_KERNEL void project_few(std::size_t rows, std::size_t in, std::size_t cols, Dense x,
                                 const Projection<AdaptedWeight<Base, Rank>>& to,
                                 Output out) noexcept {
  project_few<Port>(rows, in, cols, x, base_of(to), out);
  add_adapter<Port>(rows, in, cols, x, to.weight.adapter, out);
}
template <class Port, std::size_t Rank>
TINYATTN_KERNEL void project_few(std::size_t rows, std::size_t in, std::size_t cols,
                                 const AdaptedInput& input,
                                 const Projection<AdaptedWeight<Int8Weights, Rank>>& to,
                                 Output out) noexcept {
  project_few<Port>(rows, in, cols, input.of_base, base_of(to), out);
  add_adapter<Port>(rows, in, cols, input.x, to.weight.adapter, out);
}

// The feed-forward part with adapted int8 weights. The base of `down` takes the activation in
// integers, its adapter the activation in floats.
template <class Port, std::size_t Rank>
TINYATTN_KERNEL void feed_forward(const FeedForward<AdaptedWeight<Int8Weights, Rank>>& layer,
                                  std::size_t rows, Dense x, Output out, float* scratch,
                                  const IntegerScratch& integers) noexcept {
  const std::size_t d_model = layer.d_model, d_hidden = layer.d_hidden, count = rows * d_hidden;
  const bool is_gated = !is_null(layer.gate.weight);
  const Output hidden{scratch, d_hidden}, gates{scratch + count, d_hidden};
  const AdaptedInput input = input_of<Port>(layer.up, rows, d_model, x, integers);
  project_few<Port>(rows, d_model, d_hidden, input, layer.up, hidden);
  if (is_gated) project_few<Port>(rows, d_model, d_hidden, input, layer.gate, gates);
  const IntegerRows activated{integers.q, integer_row(d_hidden)};
  activate_rows_in_integers<Port>(layer.activation, rows, d_hidden, is_gated ? gates.data : nullptr,
                                  scratch, activated);
  if (!is_null(layer.down.weight.adapter.a)) {
    if (is_gated)
      gate_row<Port>(layer.activation, gates.data, scratch, count);
    else
      activate_row<Port>(layer.activation, scratch, scratch, count);
  }
  project_few<Port>(rows, d_hidden, d_model, AdaptedInput{hidden, activated}, layer.down, out);
}

// --- Backward ---

// Returns an adapted weight, or the gradient of its adapter, for the inputs from `first` on.
template <class Base, std::size_t Rank>
TINYATTN_KERNEL auto from_input(const AdaptedWeight<Base, Rank>& weight, std::size_t first,
                                std::size_t out) noexcept {
  const auto base = from_input(weight.base, first, out);
  Adapter<Rank> adapter = weight.adapter;
  if (!is_null(adapter.a)) adapter.a += first * Rank;
  return AdaptedWeight<std::remove_const_t<decltype(base)>, Rank>{base, adapter};
}
template <class Base, std::size_t Rank>
TINYATTN_KERNEL ProjectionGradient from_input(const AdaptedWeight<Base, Rank>&,
                                              const ProjectionGradient& gradient, std::size_t first,
                                              std::size_t) noexcept {
  return {nullptr, nullptr, gradient.lora_a + first * Rank, gradient.lora_b};
}

// d_low = s * (d_out . B^T), [rows, Rank]
template <class Port, std::size_t Rank>
TINYATTN_KERNEL void gradient_of_rank(std::size_t rows, std::size_t out, Dense d_out,
                                      const Adapter<Rank>& adapter, float* d_low) noexcept {
  project_backward<Port>(rows, Rank, out, d_out, adapter.b, {d_low, Rank});
  multiply_by<Port>(adapter.scale, d_low, rows * Rank);
}

// Adds to the gradients of an adapter; the base is frozen.
template <class Port, class Base, std::size_t Rank>
constexpr void add_projection_gradient(std::size_t rows, std::size_t in, std::size_t out, Dense x,
                                       Dense d_out, const AdaptedWeight<Base, Rank>& weight,
                                       const ProjectionGradient& gradient) noexcept {
  if (is_null(gradient.lora_a)) return;
  constexpr std::size_t most = rows_of_rank<Port, Rank>;
  for (std::size_t first = 0; first < rows; first += most) {
    float low[most * Rank];
    const std::size_t count = minimum(most, rows - first);
    const Dense inputs = x.from(first, 0), d = d_out.from(first, 0);
    project_to_rank<Port>(count, in, inputs, weight.adapter, low);
    add_outer_product<Port>({Rank, count, out, {low, Rank}, d, {gradient.lora_b, out}});
    gradient_of_rank<Port>(count, out, d, weight.adapter, low);
    add_outer_product<Port>({in, count, Rank, inputs, {low, Rank}, {gradient.lora_a, Rank}});
  }
}

// d_x += d_low . A^T
template <class Port, std::size_t Rank>
constexpr void add_adapter_backward(std::size_t rows, std::size_t in, std::size_t out, Dense d_out,
                                    const Adapter<Rank>& adapter, Output d_x) noexcept {
  if (is_null(adapter.a)) return;
  constexpr std::size_t most = rows_of_rank<Port, Rank>;
  for (std::size_t first = 0; first < rows; first += most) {
    float d_low[most * Rank];
    const std::size_t count = minimum(most, rows - first);
    gradient_of_rank<Port>(count, out, d_out.from(first, 0), adapter, d_low);
    project_backward<Port, true>(count, in, Rank, {d_low, Rank}, adapter.a, d_x.from(first, 0));
  }
}

template <class Port, bool continues = false, class Base, std::size_t Rank>
TINYATTN_KERNEL void project_backward(std::size_t rows, std::size_t in, std::size_t out,
                                      Dense d_out, const AdaptedWeight<Base, Rank>& weight,
                                      Output d_x) noexcept {
  project_backward<Port, continues>(rows, in, out, d_out, weight.base, d_x);
  add_adapter_backward<Port>(rows, in, out, d_out, weight.adapter, d_x);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
