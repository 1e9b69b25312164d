// SPDX-License-Identifier: MIT
//
// The plain twin of attention's backward pass and of both passes of blocks, by the formulas of training/kernel/. An input's gradient is one
// chain of fma: over the queries' product, then the keys', then the values'. The loop over heads is outermost.
#pragma once

#include "plain_backward.hpp"

namespace tinyattn::test::plain {

// One dropout of a matrix; without a generator nothing is dropped.
class OneDropout {
 public:
  OneDropout(double rate, Philox4x32* generator, Size rows, Size cols) noexcept
      : drops_(generator != nullptr), factors_(drops_ ? rows : 0, cols) {
    if (drops_) dropout_factors(rate, *generator, rows * cols, (*factors_).first);
  }
  operator Input() const noexcept { return drops_ ? Input(factors_) : Input{}; }
  void operator()(Input m, Output out) const noexcept {
    for (Size i = 0; i < out.rows; ++i)
      for (Size j = 0; j < out.cols; ++j) out(i, j) = drops_ ? drop(m(i, j), (*factors_)(i, j)) : m(i, j);
  }

 private:
  bool drops_;
  Matrix factors_;
};

// --- Attention ---

// Writes d_query; accumulates into d_key and d_value.
inline void attention_backward(Input query, Input key, Input value, const Mask& mask, Input d_out, Output d_query, Output d_key,
                               Output d_value, Input factors = {}) noexcept {
  const float scale = inverse_sqrt(query.cols);
  const Matrix all_weights(query.rows, key.rows), context(query.rows, value.cols), one_row(1, key.rows);
  attention(query, key, value, mask, all_weights, context);
  for (Size i = 0; i < query.rows; ++i) {
    const Output weights = (*all_weights).rows_from(i), d = one_row;
    const auto dropped = [&](float x, Size j) { return factors.first == nullptr ? x : drop(x, factors(i, j)); };
    clear(d_query.rows_from(i).first_rows(1));
    clear(d);
    for (Size j = 0; j < key.rows; ++j) {
      if (!mask.attends(i, j)) continue;
      float sum = 0.0f;
      for (Size c = 0; c < value.cols; ++c) {
        d_value(j, c) = fma(dropped(weights(0, j), j), d_out(i, c), d_value(j, c));
        sum = fma(d_out(i, c), value(j, c), sum);
      }
      d(0, j) = dropped(sum, j);
    }
    const float mean = sum_of_products(weights, d);
    for (Size j = 0; j < key.rows; ++j) {
      if (!mask.attends(i, j)) continue;
      const float d_score = product(product(weights(0, j), d(0, j) - mean), scale);
      for (Size c = 0; c < query.cols; ++c) {
        d_key(j, c) = fma(d_score, query(i, c), d_key(j, c));
        d_query(i, c) = fma(d_score, key(j, c), d_query(i, c));
      }
    }
  }
}

// The transposed rotation.
inline void rotate_back(const Rotation& rotation, Size head_dim, Output m) noexcept {
  for_each_pair(rotation, head_dim, m, [](float& a, float& b, float cosine, float sine) {
    const float x = a;
    a = fma(x, cosine, product(b, sine));
    b = fma(b, cosine, -product(x, sine));
  });
}

struct LayerGradient {
  Gradient query, key, value, out_proj;
};
// Accumulates into the gradients of the inputs.
inline void layer_backward(const Layer& layer, Input query_input, Input key_input, Input value_input, const Mask& mask, Input d_out,
                           Output d_query_input, Output d_key_input, Output d_value_input, const LayerGradient& gradient,
                           Input factors = {}) noexcept {
  const Size width = layer.query.outputs(), kv_width = layer.key.outputs(), head_dim = width / layer.num_heads;
  const Size tokens = query_input.rows, source_tokens = key_input.rows;
  const Matrix queries(tokens, width), keys(source_tokens, kv_width), values(source_tokens, kv_width), contexts(tokens, width);
  const Matrix d_contexts(tokens, width), d_queries(tokens, width), d_keys(source_tokens, kv_width), d_values(source_tokens, kv_width);
  layer.query(query_input, queries);
  layer.key(key_input, keys);
  layer.value(value_input, values);
  rotate(layer.rotation, head_dim, queries);
  rotate(layer.rotation, head_dim, keys);
  if (layer.out_proj.outputs() != 0)
    add_product(d_out, layer.out_proj.weight, d_contexts);
  else
    copy(d_out, d_contexts);
  for (Size head = 0; head < layer.num_heads; ++head) {
    const Size shared = head / (layer.num_heads / layer.num_kv_heads);
    const auto of_head = [&](const Matrix& m) { return (*m).columns(head * head_dim, head_dim); };
    const auto of_shared = [&](const Matrix& m) { return (*m).columns(shared * head_dim, head_dim); };
    const Input of_weights = factors.first == nullptr ? factors : factors.rows_from(head * tokens);
    attention(of_head(queries), of_shared(keys), of_shared(values), mask, {}, of_head(contexts), of_weights);
    attention_backward(of_head(queries), of_shared(keys), of_shared(values), mask, of_head(d_contexts), of_head(d_queries),
                       of_shared(d_keys), of_shared(d_values), of_weights);
  }
  rotate_back(layer.rotation, head_dim, d_queries);
  rotate_back(layer.rotation, head_dim, d_keys);
  add_gradient(contexts, d_out, gradient.out_proj);
  add_gradient(query_input, d_queries, gradient.query);
  for (Size j = 0; j < source_tokens; ++j) {
    Size i = 0;
    while (i < tokens && !mask.attends(i, j)) ++i;
    if (i == tokens) continue;  // what nobody attends to may be NaN
    const auto row_of = [j](Input m) { return m.rows_from(j).first_rows(1); };
    add_gradient(row_of(key_input), row_of(d_keys), gradient.key);
    add_gradient(row_of(value_input), row_of(d_values), gradient.value);
  }
  add_product(d_queries, layer.query.weight, d_query_input);
  add_product(d_keys, layer.key.weight, d_key_input);
  add_product(d_values, layer.value.weight, d_value_input);
}
// --- Blocks ---

struct BlockGradient {
  Gradient attention_norm;
  LayerGradient attention;
  Gradient feed_forward_norm;
  HiddenGradient feed_forward;
};
// A block's dropouts: of attention weights, and of the outputs of attention and of the feed-forward part.
struct BlockDropout {
  OneDropout weights, attended, hidden;

  BlockDropout(double rate, double residual_rate, Philox4x32* generator, Size num_heads, Size tokens, Size d_model) noexcept
      : weights(rate, generator, num_heads * tokens, tokens),
        attended(residual_rate, generator, tokens, d_model),
        hidden(residual_rate, generator, tokens, d_model) {}
};

// A part with its norm and residual. Replaces x by the output; rest() replaces that by its gradient; x ends as the input's gradient.
inline void train_part(const Norm& by, const Gradient& norm_gradient, bool norm_first, Output x, auto forward_part, auto backward_part,
                       auto rest) noexcept {
  const Matrix kept(x.rows, x.cols), input(x.rows, x.cols), change(x.rows, x.cols);
  if (norm_first) {
    copy(x, kept);
    norm(x, by, input);
  } else {
    copy(x, input);
  }
  forward_part(input, change);
  add(x, change, x);
  if (!norm_first) {
    copy(x, kept);
    norm(x, by, x);
  }
  rest();
  if (!norm_first) rows_backward(by, kept, x, x, norm_gradient);
  backward_part(input, x, change);
  if (norm_first) rows_backward(by, kept, change, change, norm_gradient);
  add(x, change, x);
}

// Replaces x by the block's output; rest() replaces that by its gradient; x ends as the input's gradient.
inline void train(const Block& block, const BlockGradient& gradient, const Mask& mask, const BlockDropout& dropout, Output x,
                  auto rest) noexcept {
  const Matrix dropped(x.rows, x.cols);
  train_part(
      block.attention_norm, gradient.attention_norm, block.norm_first, x,
      [&](Input in, Output out) {
        forward(block.attention, in, in, in, mask, out, {}, {dropout.weights, dropout.attended});
      },
      [&](Input in, Input d_out, Output d_in) {
        dropout.attended(d_out, dropped);
        clear(d_in);
        layer_backward(block.attention, in, in, in, mask, dropped, d_in, d_in, d_in, gradient.attention, dropout.weights);
      },
      [&] {
        train_part(
            block.feed_forward_norm, gradient.feed_forward_norm, block.norm_first, x,
            [&](Input in, Output out) {
              forward(block.feed_forward, in, out);
              dropout.hidden(out, out);
            },
            [&](Input in, Input d_out, Output d_in) {
              dropout.hidden(d_out, dropped);
              rows_backward(block.feed_forward, in, dropped, d_in, gradient.feed_forward);
            },
            rest);
      });
}

}  // namespace tinyattn::test::plain
