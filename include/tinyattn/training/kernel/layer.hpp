// SPDX-License-Identifier: MIT
//
// The backward pass of an attention layer over one element of a batch. Queries, keys and values are
// projected again.
#pragma once

#include "tinyattn/kernel/layer.hpp"
#include "tinyattn/kernel/rotary.hpp"
#include "tinyattn/training/kernel/attention.hpp"
#include "tinyattn/training/kernel/projection.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

struct LayerGradient {
  ProjectionGradient query, key, value, output;
};

// One element of a batch. A gradient of an input may be null. Inputs that are one tensor have one
// gradient: the product of the queries, which those of keys and values continue. It may go on from
// what its gradient holds.
struct BackwardElement {
  std::size_t index;  // in its batch
  std::size_t tokens, source_tokens;
  Dense query_input;                  // [tokens, d_in]
  Dense key_input, value_input;       // [source tokens, d_in]
  Dense d_out;                        // [tokens, d_out]
  Output d_query_input;               // [tokens, d_in]; may be d_out
  Output d_key_input, d_value_input;  // [source tokens, d_in]
  bool continues = false;             // adds to the gradients of inputs
};

template <class Integers = NoScratch>
struct LayerBackwardScratch {
  Output queries;             // [tokens, d_out]; overwritten by their gradients
  Output keys, values;        // [source tokens, kv_width]
  Output d_keys, d_values;    // as these
  Output context, d_context;  // [block_rows, head_dim]
  Output weights, d_scores;   // [block_rows, source tokens], in padded rows
  float* table;               // [head_dim]
  std::size_t block_rows;
  [[no_unique_address]] Integers integers;  // of inputs, if weights are int8
};

// Returns how many floats of scratch the layer needs for `tokens` tokens.
template <class Port>
constexpr std::size_t layer_backward_scratch(std::size_t width, std::size_t kv_width,
                                             std::size_t head_dim, std::size_t tokens) noexcept {
  return tokens * (width + 4 * kv_width) +
         2 * minimum(tokens, backward_rows<Port>) * (head_dim + room_of_scores<Port>(tokens)) +
         head_dim;
}
template <class Port, class Integers = NoScratch>
TINYATTN_KERNEL LayerBackwardScratch<Integers> layer_backward_parts(
    float* scratch, std::size_t width, std::size_t kv_width, std::size_t head_dim,
    std::size_t tokens, Integers integers = {}) noexcept {
  const std::size_t rows = minimum(tokens, backward_rows<Port>),
                    row_size = room_of_scores<Port>(tokens);
  const Output queries{scratch, width};
  const Output keys{queries.at(tokens, 0), kv_width}, values{keys.at(tokens, 0), kv_width};
  const Output d_keys{values.at(tokens, 0), kv_width}, d_values{d_keys.at(tokens, 0), kv_width};
  const Output context{d_values.at(tokens, 0), head_dim}, d_context{context.at(rows, 0), head_dim};
  const Output weights{d_context.at(rows, 0), row_size}, d_scores{weights.at(rows, 0), row_size};
  return {queries, keys,      values,  d_keys,   d_values,
          context, d_context, weights, d_scores, d_scores.at(rows, 0),
          rows,    integers};
}

// Rotates each pair (a, b) of all heads of `rows` rows, of which the first is at position 0, to
// (a cos + b sin, b cos - a sin), in which the product with the sine is rounded first. `table` has
// room for head_dim floats.
template <class Port>
constexpr void rotate_backward(const auto& rotation, std::size_t rows, std::size_t heads,
                               std::size_t head_dim, Output d, float* table) noexcept {
  using Single = typename Port::one_lane;
  for (std::size_t r = 0; r < rows; ++r) {
    const Rotation at = rotation_at<Port>(rotation, r, head_dim, table);
    if (is_null(at.cosines)) return;
    for (std::size_t head = 0; head < heads; ++head)
      for (std::size_t i = 0; i < head_dim / 2; ++i) {
        float& a = *d.at(r, head * head_dim + i * at.step);
        float& b = *d.at(r, head * head_dim + i * at.step + at.apart);
        const float first = a;
        a = Single::fma(first, at.cosines[i], Single::mul(b, at.sines[i]));
        b = Single::fma(b, at.cosines[i], -Single::mul(first, at.sines[i]));
      }
  }
}

template <class Port>
TINYATTN_KERNEL void project_inputs(const auto& layer, const auto& s,
                                    const BackwardElement& e) noexcept {
  const std::size_t d_in = layer.d_in, kv = kv_width(layer);
  project_again<Port>(e.tokens, d_in, layer.d_out, e.query_input, layer.query, s.queries,
                      s.integers);
  project_again<Port>(e.source_tokens, d_in, kv, e.key_input, layer.key, s.keys, s.integers);
  project_again<Port>(e.source_tokens, d_in, kv, e.value_input, layer.value, s.values, s.integers);
  rotate<Port>(layer, e.tokens, layer.d_out, 0, s.queries);
  rotate<Port>(layer, e.source_tokens, kv, 0, s.keys);
}

// Computes the gradients of a head and of its rows of the output projection; for those, contexts
// are computed again.
template <class Port>
TINYATTN_KERNEL void attend_head_backward(const auto& layer, const LayerGradient& gradient,
                                          const auto& s, const BackwardElement& e, std::size_t head,
                                          const auto& mask, const auto& dropout) noexcept {
  const std::size_t dim = layer.head_dim, width = layer.d_out, column = kv_column(layer, head);
  const AttentionBackward a{e.tokens,
                            s.block_rows,
                            dim,
                            dim,
                            e.index * layer.num_heads + head,
                            s.queries.from(0, head * dim),
                            Dense(s.keys).from(0, column),
                            Dense(s.values).from(0, column),
                            s.d_keys.from(0, column),
                            s.d_values.from(0, column),
                            s.weights,
                            s.d_scores,
                            layer.scale};
  attend_backward<Port>(
      a, mask, dropout, [&](const QueryBlock& block, Output weights) TINYATTN_INLINE_LAMBDA {
        const Dense d_out = e.d_out.from(block.first, 0);
        if (is_null(layer.output.weight)) return d_out.from(0, head * dim);
        const auto weight = from_input(layer.output.weight, head * dim, width);
        if (gradient.output.needs_input()) {
          combine_keys<Port>(block, mask, dim, weights, a.values, s.context);
          add_projection_gradient<Port>(
              block.rows, dim, width, s.context, d_out, weight,
              from_input(layer.output.weight, gradient.output, head * dim, width));
        }
        project_backward<Port>(block.rows, dim, width, d_out, weight, s.d_context);
        return Dense(s.d_context);
      });
}

// Calls use(first, count) for each run of keys that any of the queries attends to. What lies in
// other keys leaves no trace.
TINYATTN_KERNEL void for_each_attended_run(std::size_t queries, const auto& mask,
                                           const auto& use) noexcept {
  if (queries == 0) return;
  const auto is_attended = [&](std::size_t j) TINYATTN_INLINE_LAMBDA {
    std::size_t i = 0;
    while (i < queries && !attends(mask, i, j)) ++i;
    return i < queries;
  };
  const std::size_t end = mask.end(queries - 1);
  for (std::size_t j = mask.begin(0); j < end; ++j) {
    const std::size_t run = j;
    if (!mask.has_holes())
      j = end;
    else
      while (j < end && is_attended(j)) ++j;
    if (j != run) use(run, j - run);
  }
}

// Writes the gradient of the input of a projection, or continues it, if it is wanted.
template <class Port>
constexpr void input_backward(std::size_t rows, std::size_t in, std::size_t out, Dense d_out,
                              const auto& projection, Output d_x, bool continues) noexcept {
  if (is_null(d_x.data)) return;
  if (continues)
    project_backward<Port, true>(rows, in, out, d_out, projection.weight, d_x);
  else
    project_backward<Port>(rows, in, out, d_out, projection.weight, d_x);
}

// Adds to the gradients of all projections, and computes those of the inputs. Heads are outermost,
// so that shared keys gather from them in one order, whatever the height of a block.
template <class Port>
TINYATTN_KERNEL void layer_backward(const auto& layer, const LayerGradient& gradient, const auto& s,
                                    const BackwardElement& e, const auto& mask,
                                    const auto& dropout) noexcept {
  const std::size_t width = layer.d_out, kv = kv_width(layer), d_in = layer.d_in;
  project_inputs<Port>(layer, s, e);
  for (std::size_t j = 0; j < e.source_tokens * kv; ++j)
    s.d_keys.data[j] = s.d_values.data[j] = 0.0f;
  for (std::size_t head = 0; head < layer.num_heads; ++head)
    attend_head_backward<Port>(layer, gradient, s, e, head, mask, dropout);
  if (!is_null(gradient.output.bias))
    add_column_sums<Port>(e.tokens, width, e.d_out, gradient.output.bias);
  if constexpr (requires { layer.rotation; }) {
    const std::size_t dim = layer.head_dim;
    rotate_backward<Port>(layer.rotation, e.tokens, width / dim, dim, s.queries, s.table);
    rotate_backward<Port>(layer.rotation, e.source_tokens, kv / dim, dim, s.d_keys, s.table);
  }
  const float *const d_query = e.d_query_input.data, *const d_key = e.d_key_input.data,
                     *const d_value = e.d_value_input.data;
  // All inputs are read before a gradient is written, which may be an input.
  add_projection_gradient<Port>(e.tokens, d_in, width, e.query_input, s.queries, layer.query.weight,
                                gradient.query);
  for_each_attended_run(
      e.tokens, mask, [&](std::size_t first, std::size_t count) TINYATTN_INLINE_LAMBDA {
        add_projection_gradient<Port>(count, d_in, kv, e.key_input.from(first, 0),
                                      s.d_keys.from(first, 0), layer.key.weight, gradient.key);
        add_projection_gradient<Port>(count, d_in, kv, e.value_input.from(first, 0),
                                      s.d_values.from(first, 0), layer.value.weight,
                                      gradient.value);
      });
  input_backward<Port>(e.tokens, d_in, width, s.queries, layer.query, e.d_query_input, e.continues);
  input_backward<Port>(e.source_tokens, d_in, kv, s.d_keys, layer.key, e.d_key_input,
                       d_key == d_query);
  input_backward<Port>(e.source_tokens, d_in, kv, s.d_values, layer.value, e.d_value_input,
                       d_value == d_query || d_value == d_key);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
