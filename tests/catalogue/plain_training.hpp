// SPDX-License-Identifier: MIT
//
// The plain twin of attention's backward pass, and of both passes of blocks and models, by the formulas of kernel/backward/. The gradient
// of an input is one chain of fma: of the queries' product, then of the keys', then of the values'. Heads are outermost.
#pragma once

#include "plain_backward.hpp"
#include "tinyattn/training.hpp"

namespace tinyattn::test::plain {

// How a backward pass was called: with a mask, of how many tokens, after dropout by a generator.
struct Call {
  Mask mask = {};
  Size tokens = SIZE_MAX;
  Philox4x32* generator = nullptr;

  constexpr Size tokens_of(Input x) const noexcept { return tokens < x.rows ? tokens : x.rows; }
};

// The factors of one dropout of a matrix. Without a generator nothing drops.
class OneDropout {
 public:
  constexpr OneDropout(double rate, Philox4x32* generator, Size rows, Size cols) noexcept
      : drops_(generator != nullptr), factors_(drops_ ? rows : 0, cols) {
    if (drops_) dropout_factors(rate, *generator, rows * cols, (*factors_).first);
  }
  constexpr operator Input() const noexcept { return drops_ ? Input(factors_) : Input{}; }
  constexpr void operator()(Input m, Output out) const noexcept {
    for (Size i = 0; i < out.rows; ++i)
      for (Size j = 0; j < out.cols; ++j) out(i, j) = drops_ ? drop(m(i, j), (*factors_)(i, j)) : m(i, j);
  }

 private:
  bool drops_;
  Matrix factors_;
};

// --- Attention ---

// Writes d_query; the chains of d_key and d_value go on.
constexpr void attention_backward(Input query, Input key, Input value, const Mask& mask, Input d_out, Output d_query, Output d_key,
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
    const float mean = sum_of_products(
        key.rows, [&](Size j) { return weights(0, j); }, [&](Size j) { return d(0, j); });
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

// Rotates back.
constexpr void rotate_back(const Rotation& rotation, Size head_dim, Output m) noexcept {
  const Size pairs = rotation.cosines == nullptr ? 0 : head_dim / 2;
  for (Size i = 0; i < m.rows; ++i)
    for (Size head = 0; head < m.cols; head += head_dim)
      for (Size pair = 0; pair < pairs; ++pair) {
        float& a = m(i, head + (rotation.is_interleaved ? 2 * pair : pair));
        float& b = m(i, head + (rotation.is_interleaved ? 2 * pair + 1 : pair + pairs));
        const float cosine = rotation.cosines[i * pairs + pair], sine = rotation.sines[i * pairs + pair], x = a, y = b;
        a = fma(x, cosine, product(y, sine));
        b = fma(y, cosine, -product(x, sine));
      }
}

struct LayerGradient {
  Gradient query, key, value, out_proj;
};
template <AttentionConfig config>
constexpr LayerGradient gradients_of(MultiHeadAttention<config>& layer) noexcept {
  return {gradients_of(layer.query), gradients_of(layer.key), gradients_of(layer.value), gradients_of(layer.out_proj)};
}

// The chains of the gradients of the inputs go on.
constexpr void layer_backward(const Layer& layer, Input query_input, Input key_input, Input value_input, const Mask& mask, Input d_out,
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
  add_gradient(key_input, d_keys, gradient.key);
  add_gradient(value_input, d_values, gradient.value);
  add_product(d_queries, layer.query.weight, d_query_input);
  add_product(d_keys, layer.key.weight, d_key_input);
  add_product(d_values, layer.value.weight, d_value_input);
}
template <AttentionConfig config>
constexpr void layer_backward(const MultiHeadAttention<config>& module, Input query_input, Input key_input, Input value_input,
                              const Mask& mask, Input d_out, Output d_query_input, Output d_key_input, Output d_value_input,
                              MultiHeadAttention<config>& gradient) noexcept {
  layer_backward(described(module), query_input, key_input, value_input, mask, d_out, d_query_input, d_key_input, d_value_input,
                 gradients_of(gradient));
}

// Self-attention. Dropout draws for all weights of a batch, then for all outputs.
template <AttentionConfig config, class X>
constexpr void backward(const MultiHeadAttention<config>& module, const X& x, const auto& d_out, X& d_x,
                        MultiHeadAttention<config>& gradient, const Call& call = {}) noexcept {
  const Size tokens = call.tokens_of(view(x)), matrices = batch_of<X>;
  const OneDropout of_weights(config.dropout, call.generator, matrices * config.num_heads * tokens, tokens);
  const OneDropout of_outputs(config.residual_dropout, call.generator, matrices * tokens, config.d_out);
  const Matrix all_dropped(matrices * tokens, config.d_out);
  for (Size i = 0; i < matrices; ++i) copy(view(d_out, i).first_rows(tokens), (*all_dropped).rows_from(i * tokens).first_rows(tokens));
  of_outputs(all_dropped, all_dropped);
  for (Size i = 0; i < matrices; ++i) {
    const Input from = view(x, i).first_rows(tokens), factors = of_weights;
    const Output to = view(d_x, i).first_rows(tokens);
    clear(to);
    layer_backward(described(module), from, from, from, mask_in_layer(config, call.mask),
                   (*all_dropped).rows_from(i * tokens).first_rows(tokens), to, to, to, gradients_of(gradient),
                   factors.first == nullptr ? factors : factors.rows_from(i * config.num_heads * tokens));
  }
}

// --- Blocks ---

struct BlockGradient {
  Gradient attention_norm;
  LayerGradient attention;
  Gradient feed_forward_norm;
  HiddenGradient feed_forward;
};
template <BlockConfig config>
constexpr BlockGradient gradients_of(TransformerBlock<config>& block) noexcept {
  return {gradients_of(block.attention_norm), gradients_of(block.attention), gradients_of(block.feed_forward_norm),
          gradients_of(block.feed_forward)};
}

// The dropouts of a block: of attention weights, and of the outputs of both parts.
struct BlockDropout {
  OneDropout weights, attended, hidden;

  constexpr BlockDropout(double rate, double residual_rate, Philox4x32* generator, Size num_heads, Size tokens, Size d_model) noexcept
      : weights(rate, generator, num_heads * tokens, tokens),
        attended(residual_rate, generator, tokens, d_model),
        hidden(residual_rate, generator, tokens, d_model) {}
};

// A part of a block with its norm and its residual: x becomes the output; then, by rest(), the gradient of that; then that of the input.
constexpr void train_part(const Norm& by, const Gradient& norm_gradient, bool norm_first, Output x, auto forward_part, auto backward_part,
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

// x becomes the output of a block; then, by rest(), the gradient of that; then that of the input.
constexpr void train(const Block& block, const BlockGradient& gradient, const Mask& mask, const BlockDropout& dropout, Output x,
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

// The same of `count` blocks; at_end() between both passes.
template <BlockConfig config>
constexpr void train(const TransformerBlock<config>* blocks, TransformerBlock<config>* gradients, Size count, const Call& call, Output x,
                     auto& at_end) noexcept {
  if (count == 0) return at_end();
  const BlockDropout dropout(config.attention.dropout, config.attention.residual_dropout, call.generator, config.attention.num_heads,
                             x.rows, x.cols);
  train(described(*blocks), gradients_of(*gradients), mask_in_layer(config.attention, call.mask), dropout, x,
        [&] { train(blocks + 1, gradients + 1, count - 1, call, x, at_end); });
}

template <BlockConfig config>
constexpr void train(const TransformerBlock<config>& block, TransformerBlock<config>& gradient, const Call& call, Output x,
                     auto at_end) noexcept {
  train(&block, &gradient, 1, call, x, at_end);
}
template <TransformerConfig config>
constexpr void train(const Transformer<config>& transformer, Transformer<config>& gradient, const Call& call, Output x,
                     auto at_end) noexcept {
  const auto with_norm = [&] {
    const Matrix kept(x.rows, x.cols);
    if constexpr (config.final_norm) {
      copy(x, kept);
      norm(x, described(transformer.final_norm), x);
    }
    at_end();
    if constexpr (config.final_norm) rows_backward(described(transformer.final_norm), kept, x, x, gradients_of(gradient.final_norm));
  };
  train(transformer.blocks, gradient.blocks, config.num_layers, call, x, with_norm);
}

template <tinyattn::detail::made_of_blocks Module, class X>
constexpr void backward(const Module& module, const X& x, const X& d_out, X& d_x, Module& gradient, const Call& call = {}) noexcept {
  for (Size i = 0; i < batch_of<X>; ++i) {
    const Size tokens = call.tokens_of(view(x));
    const Output to = view(d_x, i).first_rows(tokens);
    copy(view(x, i), to);
    train(module, gradient, call, to, [&] { copy(view(d_out, i), to); });
  }
}

// --- Language models ---

// at_logits(logits) turns them into their gradient.
template <LanguageModelConfig config>
constexpr void train(const LanguageModel<config>& model, const Token* tokens, Size count, LanguageModel<config>& gradient, const Call& call,
                     auto at_logits) noexcept {
  constexpr Size d_model = config.transformer.block.feed_forward.d_model;
  constexpr Size context_length = config.transformer.block.attention.context_length;
  const Matrix features(count, d_model), logits(count, config.vocabulary);
  const Output x = features;
  for (Size i = 0; i < count; ++i)
    for (Size j = 0; j < d_model; ++j) {
      x(i, j) = feature(model.token_embedding, tokens[i], j);
      if constexpr (config.positions == Positions::learned) x(i, j) += model.position_embedding.weight(i, j);
      if constexpr (config.positions == Positions::sinusoidal) x(i, j) += sinusoidal_positions<context_length, d_model>()(i, j);
    }
  train(model.transformer, gradient.transformer, call, x, [&] {
    const auto with_head = [&](const Linear& head, auto add_to_gradient) {
      head(x, logits);
      at_logits(*logits);
      add_to_gradient();
      clear(x);
      add_product(logits, head.weight, x);
    };
    if constexpr (config.tied)
      with_head(described(model.token_embedding), [&] { add_outer(logits, x, view(gradient.token_embedding.weight)); });
    else
      with_head(described(model.head), [&] { add_gradient(x, logits, gradients_of(gradient.head)); });
  });
  for (Size i = 0; i < count; ++i)
    for (Size j = 0; j < d_model; ++j) {
      gradient.token_embedding.weight(tokens[i], j) += x(i, j);
      if constexpr (config.positions == Positions::learned) gradient.position_embedding.weight(i, j) += x(i, j);
    }
}

template <LanguageModelConfig config>
constexpr void backward(const LanguageModel<config>& model, const auto& tokens, const auto& d_out, const NoGradient&,
                        LanguageModel<config>& gradient) noexcept {
  train(model, tokens.data(), tokens.size(), gradient, {}, [&](Output logits) { copy(view(d_out), logits); });
}

// Returns the loss.
template <LanguageModelConfig config>
constexpr float train_on_targets(const LanguageModel<config>& model, const Token* tokens, const Token* targets, Size count,
                                 LanguageModel<config>& gradient, float factor, Philox4x32* generator) noexcept {
  float loss = 0.0f;
  train(model, tokens, count, gradient, {.generator = generator}, [&](Output logits) { loss = cross_entropy(logits, targets, factor); });
  return loss;
}

}  // namespace tinyattn::test::plain
