// SPDX-License-Identifier: MIT
//
// The two classes that can compute a case: `Library` calls the library as a program does, `Twin` has the same functions in plain loops. A
// case calls its operations through either one, so that it is written only once.
#pragma once

#include "plain.hpp"
#include "tinyattn/activation.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/dropout.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/pooling.hpp"
#include "tinyattn/softmax.hpp"

#include <cstddef>
#include <iterator>

namespace tinyattn::test {

struct Library {
  static constexpr bool has_weights = true;

  // Each returns its result or, if an output is the last argument, writes it there.
  static constexpr auto add(auto&&... args) noexcept { return tinyattn::add(args...); }
  static constexpr auto subtract(auto&&... args) noexcept { return tinyattn::subtract(args...); }
  static constexpr auto multiply(auto&&... args) noexcept { return tinyattn::multiply(args...); }
  static constexpr auto matmul(auto&&... args) noexcept { return tinyattn::matmul(args...); }
  static constexpr auto matmul_transposed(auto&&... args) noexcept { return tinyattn::matmul_transposed(args...); }
  static constexpr auto softmax(auto&&... args) noexcept { return tinyattn::softmax(args...); }
  static constexpr auto softmax_naive(auto&&... args) noexcept { return tinyattn::softmax_naive(args...); }
  static constexpr auto normalize(auto&&... args) noexcept { return tinyattn::normalize(args...); }
  static constexpr auto mean(auto&&... args) noexcept { return tinyattn::mean(args...); }
  static constexpr auto largest(auto&&... args) noexcept { return tinyattn::largest(args...); }
  static constexpr auto standardize(auto&&... args) noexcept { return tinyattn::standardize(args...); }
  template <Activation activation>
  static constexpr auto activate(auto&&... args) noexcept {
#define CALL(name, NAME, formula) \
  if constexpr (activation == Activation::name) return tinyattn::name(args...);
    TINYATTN_ACTIVATIONS(CALL)
#undef CALL
  }
  static constexpr auto norm(const auto& module, auto&&... args) noexcept {
    if constexpr (sizeof...(args) == 1)
      return module(args...);
    else
      module.forward(args...);
  }

  static constexpr float dot(const auto& u, const auto& v) noexcept { return tinyattn::dot(u, v); }
  static constexpr void dropout(const auto& m, const DropoutRate& rate, auto& generator, auto& out) noexcept {
    tinyattn::dropout(m, rate, generator, out);
  }
  static constexpr void attention(const auto& query, const auto& key, const auto& value, const auto& mask, auto& weights,
                                  auto& out) noexcept {
    scaled_dot_product_attention(query, key, value, mask, out, weights);
  }
  // Returns the context, or writes it to an output.
  static constexpr auto context(auto&&... args) noexcept { return scaled_dot_product_attention(args...); }

  // Calls `forward` of a layer, a feed-forward part, a block, a transformer or a language model, in any of its forms.
  static constexpr auto forward(const auto& module, auto&&... args) noexcept { return module.forward(args...); }
  static constexpr void forward_with_weights(const auto& layer, auto&&... args) noexcept { layer.forward_with_weights(args...); }

  // Computes with a cache: the first tokens in one call, the others `step` at a time. The unnamed argument is for the twin: the outputs of
  // one call for all tokens.
  template <class TensorX, class Out>
  static constexpr Status forward_cached(const auto& module, const TensorX& x, const auto&, std::size_t first, std::size_t step,
                                         auto& cache, Out& out, auto& workspace) noexcept {
    constexpr std::size_t rows = detail::LayoutOf<TensorX>::rows, cols = detail::LayoutOf<TensorX>::cols;
    constexpr std::size_t out_cols = detail::LayoutOf<Out>::cols;
    Status status = module.forward(x, first, cache, out, workspace);
    for (std::size_t i = first; status == Status::ok && i < rows; i += step) {
      const MatrixView<const float, rows, cols, cols> from{x.data() + i * cols};
      MatrixView<float, rows, out_cols, out_cols> to{out.data() + i * out_cols};
      status = module.forward(from, step < rows - i ? step : rows - i, cache, to, workspace);
    }
    return status;
  }
  // Computes the logits after the last of `count` tokens, of which the cache holds all but the last `added`.
  template <class Tokens>
  static constexpr Status next_logits(const auto& model, const Tokens& tokens, std::size_t count, std::size_t added, auto& cache, auto& out,
                                      auto& workspace) noexcept {
    return model.forward(TokenView(tokens.data() + (count - added), added), cache, out, workspace);
  }
  // The same. The unnamed argument is for the twin: the logits after each token, from one call for all of them.
  static constexpr Status read(const auto& model, const auto& tokens, const auto&, std::size_t count, std::size_t added, auto& cache,
                               auto& out, auto& workspace) noexcept {
    return next_logits(model, tokens, count, added, cache, out, workspace);
  }
};

// The same functions in plain loops, which need neither workspaces nor caches.
struct Twin {
  static constexpr bool has_weights = true;

  static constexpr void add(const auto& a, const auto& b, auto& out) noexcept {
    combine(a, b, out, [](float x, float y) { return x + y; });
  }
  static constexpr void subtract(const auto& a, const auto& b, auto& out) noexcept {
    combine(a, b, out, [](float x, float y) { return x - y; });
  }
  static constexpr void multiply(const auto& a, const auto& b, auto& out) noexcept { combine(a, b, out, plain::product); }
  static constexpr void matmul(const auto& a, const auto& b, auto& out) noexcept {
    for_each_matrix(out, [&](auto to, std::size_t i) { plain::matmul(plain::view(a, i), plain::view(b, i), to); });
  }
  static constexpr void matmul_transposed(const auto& a, const auto& b, auto& out) noexcept {
    for_each_matrix(out, [&](auto to, std::size_t i) { plain::matmul(plain::view(a, i), plain::view(b, i).transposed(), to); });
  }
  static constexpr float dot(const auto& u, const auto& v) noexcept {
    Vector<float, 1> out{};
    plain::matmul(plain::view(u), plain::view(v).transposed(), plain::view(out));
    return out(0);
  }
  static constexpr void softmax(const auto& m, float scale, auto& out) noexcept {
    for_each_matrix(out, [&](auto to, std::size_t i) { plain::softmax(plain::view(m, i), scale, to); });
  }
  static constexpr void softmax(const auto& m, auto& out) noexcept { softmax(m, 1.0f, out); }
  static constexpr void softmax_naive(const auto& m, auto& out) noexcept {
    for_each_matrix(out, [&](auto to, std::size_t i) { plain::softmax_naive(plain::view(m, i), to); });
  }
  static constexpr void normalize(const auto& m, auto& out) noexcept {
    for_each_matrix(out, [&](auto to, std::size_t i) { plain::normalize(plain::view(m, i), to); });
  }
  template <Activation activation>
  static constexpr void activate(const auto& m, auto& out) noexcept {
    for_each_matrix(out, [&](auto to, std::size_t i) {
      plain::for_each(plain::view(m, i), to, [](float x) { return plain::activation(activation, x); });
    });
  }
  static constexpr void mean(const auto& x, auto& out) noexcept {
    static_cast<void>(pool(x, detail::LayoutOf<decltype(x)>::rows, out, [](auto from, auto to) { plain::mean(from, to); }));
  }
  static constexpr Status mean(const auto& x, std::size_t count, auto& out) noexcept {
    return pool(x, count, out, [](auto from, auto to) { plain::mean(from, to); });
  }
  static constexpr void largest(const auto& x, auto& out) noexcept {
    static_cast<void>(pool(x, detail::LayoutOf<decltype(x)>::rows, out, [](auto from, auto to) { plain::largest(from, to); }));
  }
  static constexpr Status largest(const auto& x, std::size_t count, auto& out) noexcept {
    return pool(x, count, out, [](auto from, auto to) { plain::largest(from, to); });
  }
  static constexpr void standardize(const auto& x, const auto& mean, const auto& inverse_deviation, auto& out) noexcept {
    for_each_matrix(out, [&](auto to, std::size_t i) { plain::standardize(plain::view(x, i), mean.data(), inverse_deviation.data(), to); });
  }
  // Applies a norm, a Linear or a convolution.
  static constexpr void norm(const auto& module, const auto& x, auto& out) noexcept {
    for_each_matrix(out, [&](auto to, std::size_t i) {
      if constexpr (requires { module.epsilon; })
        plain::norm(plain::view(x, i), plain::described(module), to);
      else
        plain::described(module)(plain::view(x, i), to);
    });
  }
  template <class TensorM>
  static constexpr void dropout(const TensorM& m, const DropoutRate& rate, auto& generator, auto& out) noexcept {
    TensorM factors{};
    plain::dropout_factors(rate, generator, factors.size(), factors.data());
    for (std::size_t i = 0; i < m.size(); ++i) out.data()[i] = plain::drop(m.data()[i], factors.data()[i]);
  }
  static constexpr void attention(const auto& query, const auto& key, const auto& value, const auto& mask, auto& weights,
                                  auto& out) noexcept {
    attend(query, key, value, mask, out, [&](std::size_t i) { return plain::view(weights, i); });
  }
  static constexpr void context(const auto& query, const auto& key, const auto& value, const auto& mask, auto& out) noexcept {
    attend(query, key, value, mask, out, [](std::size_t) { return plain::Output{}; });
  }

  static constexpr void forward(const auto& module, const auto& x, auto& out, auto& workspace) noexcept {
    forward(module, x, NoMask{}, out, workspace);
  }
  template <plain::any_mask Mask>
  static constexpr void forward(const auto& module, const auto& x, const Mask& mask, auto& out, auto&) noexcept {
    forward_rows(module, x, detail::LayoutOf<decltype(x)>::rows, mask, out);
  }
  static constexpr Status forward(const auto& module, const auto& x, std::size_t tokens, auto& out, auto&) noexcept {
    if (tokens > plain::config_of(module).context_length || tokens > detail::LayoutOf<decltype(x)>::rows) return Status::too_many_tokens;
    forward_rows(module, x, tokens, NoMask{}, out);
    return Status::ok;
  }
  // Cross-attention, with counts and without.
  template <plain::any_mask Mask>
  static constexpr void forward(const auto& layer, const auto& query, const auto& key, const auto& value, const Mask& mask, auto& out,
                                auto&) noexcept {
    cross_rows(layer, query, key, value, detail::LayoutOf<decltype(query)>::rows, detail::LayoutOf<decltype(key)>::rows, mask, out);
  }
  static constexpr Status forward(const auto& layer, const auto& query, const auto& key, const auto& value, std::size_t tokens,
                                  std::size_t source_tokens, const auto& mask, auto& out, auto&) noexcept {
    const std::size_t most = plain::config_of(layer).context_length;
    if (tokens > most || tokens > detail::LayoutOf<decltype(query)>::rows || source_tokens > most ||
        source_tokens > detail::LayoutOf<decltype(key)>::rows)
      return Status::too_many_tokens;
    cross_rows(layer, query, key, value, tokens, source_tokens, mask, out);
    return Status::ok;
  }
  static constexpr void forward_with_weights(const auto& layer, const auto& x, auto& out, auto& weights, auto& workspace) noexcept {
    forward_with_weights(layer, x, x, x, out, weights, workspace);
  }
  template <AttentionConfig config, class Weights>
  static constexpr void forward_with_weights(const MultiHeadAttention<config>& layer, const auto& query, const auto& key, const auto& value,
                                             auto& out, Weights& weights, auto&) noexcept {
    constexpr std::size_t rows = detail::LayoutOf<Weights>::rows, cols = detail::LayoutOf<Weights>::cols;
    for_each_matrix(out, [&](auto to, std::size_t i) {
      const plain::Output all_heads{weights.data() + i * config.num_heads * rows * cols, config.num_heads * rows, cols, cols};
      plain::forward(plain::described(layer), plain::view(query, i), plain::view(key, i), plain::view(value, i),
                     plain::mask_in_layer(config), to, all_heads);
    });
  }
  // A training pass.
  template <AttentionConfig config, class TensorX, random_generator Generator>
  static constexpr void forward(const MultiHeadAttention<config>& layer, const TensorX& x, auto& out, auto&,
                                Generator& generator) noexcept {
    constexpr std::size_t rows = detail::LayoutOf<TensorX>::rows, heads = config.num_heads, batch = plain::batch_of<TensorX>;
    const plain::Matrix drops_of_weights(batch * heads * rows, rows), drops_of_outputs(batch * rows, config.d_out);
    plain::dropout_factors(config.dropout, generator, batch * heads * rows * rows, (*drops_of_weights).first);
    plain::dropout_factors(config.residual_dropout, generator, batch * rows * config.d_out, (*drops_of_outputs).first);
    for_each_matrix(out, [&](auto to, std::size_t i) {
      const auto from = plain::view(x, i);
      plain::forward(plain::described(layer), from, from, from, plain::mask_in_layer(config), to, {},
                     {(*drops_of_weights).rows_from(i * heads * rows), (*drops_of_outputs).rows_from(i * rows)});
    });
  }
  // A cache of floats changes no result.
  static constexpr Status forward_cached(const auto& module, const auto& x, const auto& all, std::size_t, std::size_t, auto&, auto& out,
                                         auto&) noexcept {
    if (const plain::Mask mask = plain::mask_of_cache(module); mask.int8_context != 0)
      plain::forward(module, plain::view(x), mask, plain::view(out));
    else
      plain::copy(plain::view(all), plain::view(out));
    return Status::ok;
  }
  static constexpr Status read(const auto& model, const auto& tokens, const auto& all, std::size_t count, std::size_t added, auto& cache,
                               auto& out, auto& workspace) noexcept {
    if (plain::mask_of_cache(model).int8_context != 0) return next_logits(model, tokens, count, added, cache, out, workspace);
    plain::copy(plain::view(all).rows_from(count - 1), plain::view(out));
    return Status::ok;
  }
  template <std::size_t Count, std::size_t Dim, Weights weights>
  static constexpr Status forward(const Embedding<Count, Dim, weights>& embedding, const auto& tokens, auto& out) noexcept {
    for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = plain::feature(embedding, tokens(i / Dim), i % Dim);
    return Status::ok;
  }
  template <LanguageModelConfig config>
  static constexpr Status forward(const LanguageModel<config>& model, const auto& tokens, auto& logits, auto&) noexcept {
    plain::forward(model, tokens.data(), tokens.size(), plain::mask_in_layer(plain::config_of(model)), plain::view(logits));
    return Status::ok;
  }
  template <LanguageModelConfig config>
  static constexpr Status next_logits(const LanguageModel<config>& model, const auto& tokens, std::size_t count, std::size_t, auto&,
                                      auto& out, auto&) noexcept {
    if (count > plain::config_of(model).context_length) return Status::too_many_tokens;
    const plain::Matrix all(count, config.vocabulary);
    plain::forward(model, tokens.data(), count, plain::mask_of_cache(model), all);
    plain::copy((*all).rows_from(count - 1), plain::view(out));
    return Status::ok;
  }

 private:
  template <class Out>
  static constexpr void for_each_matrix(Out& out, auto compute) noexcept {
    for (std::size_t i = 0; i < plain::batch_of<Out>; ++i) compute(plain::view(out, i), i);
  }

  template <class TensorX>
  static constexpr Status pool(const TensorX& x, std::size_t count, auto& out, auto reduce) noexcept {
    if (count == 0) return Status::no_tokens;
    if (count > plain::LayoutOf<TensorX>::rows) return Status::too_many_tokens;
    for (std::size_t i = 0; i < plain::batch_of<TensorX>; ++i) reduce(plain::view(x, i).first_rows(count), plain::view(out).rows_from(i));
    return Status::ok;
  }

  static constexpr void combine(const auto& a, const auto& b, auto& out, auto of_two) noexcept {
    for_each_matrix(out, [&](auto to, std::size_t i) {
      plain::combine(plain::broadcast(a, i, to.rows, to.cols), plain::broadcast(b, i, to.rows, to.cols), to, of_two);
    });
  }

  template <class Query, class Key>
  static constexpr void attend(const Query& query, const Key& key, const auto& value, const auto& mask, auto& out, auto weights) noexcept {
    const auto plain_mask = plain::mask_of(mask, detail::LayoutOf<Query>::rows, detail::LayoutOf<Key>::rows);
    for_each_matrix(out, [&](auto to, std::size_t i) {
      plain::attention(plain::view(query, i), plain::view(key, i), plain::view(value, i), plain_mask, weights(i), to);
    });
  }

  // Computes the first `rows` rows; a causal module adds its causal mask.
  template <class TensorX>
  static constexpr void forward_rows(const auto& module, const TensorX& x, std::size_t rows, const auto& mask, auto& out) noexcept {
    const auto plain_mask = plain::mask_of(mask, rows, rows);
    for_each_matrix(out, [&](auto to, std::size_t i) {
      if constexpr (requires { module.heads; }) {
        for (std::size_t head = 0; head < std::size(module.heads); ++head) {
          const std::size_t width = to.cols / std::size(module.heads);
          plain::forward(module.heads[head], plain::view(x, i).first_rows(rows), {.is_causal = true},
                         to.columns(head * width, width).first_rows(rows));
        }
      } else {
        plain::forward(module, plain::view(x, i).first_rows(rows), plain::mask_in_layer(plain::config_of(module), plain_mask),
                       to.first_rows(rows));
      }
    });
  }
  template <AttentionConfig config>
  static constexpr void cross_rows(const MultiHeadAttention<config>& layer, const auto& query, const auto& key, const auto& value,
                                   std::size_t tokens, std::size_t source_tokens, const auto& mask, auto& out) noexcept {
    const auto plain_mask = plain::mask_in_layer(config, plain::mask_of(mask, tokens, source_tokens));
    for_each_matrix(out, [&](auto to, std::size_t i) {
      plain::forward(plain::described(layer), plain::view(query, i).first_rows(tokens), plain::view(key, i).first_rows(source_tokens),
                     plain::view(value, i).first_rows(source_tokens), plain_mask, to.first_rows(tokens));
    });
  }
};

// The twin of a class that cannot return attention weights.
struct TwinWithoutWeights : Twin {
  static constexpr bool has_weights = false;
};

// Returns the result of `operation`. The library returns it by value; the twin writes it to `out`.
constexpr auto by_value(Library by, const auto& operation, auto&, const auto&... operands) noexcept { return operation(by, operands...); }
constexpr const auto& by_value(auto by, const auto& operation, auto& out, const auto&... operands) noexcept {
  operation(by, operands..., out);
  return out;
}

}  // namespace tinyattn::test
