// SPDX-License-Identifier: MIT
//
// Cases of attention: the function and its layers.
#pragma once

#include "draw.hpp"
#include "guarded.hpp"
#include "library.hpp"

#include <cstddef>

namespace tinyattn::test {

template <class Mask, std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
struct Attention {
  Matrix<float, Tokens, KeyDim> query;
  Matrix<float, SourceTokens, KeyDim> key;
  Matrix<float, SourceTokens, ValueDim> value;
  Mask mask;
  Guarded<Matrix<float, Tokens, ValueDim>> out;
  Guarded<Matrix<float, Tokens, SourceTokens>> weights;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    draw.draw(query, 4.0f);
    draw(key, value, mask);
    if constexpr (by.has_weights) {
      by.attention(query, key, value, mask, weights.tensor, out.tensor);
      outputs.take("out", out);
      outputs.take("weights", weights);
    } else {
      by.context(query, key, value, mask, out.tensor);
      outputs.take("out", out);
    }
  }
};

// A layer, its input, output and workspace. `Tokens` is a token count, or a batch size and a token count: x is [tokens, DIn] or [batch,
// tokens, DIn].
template <class Layer, std::size_t DIn, std::size_t DOut, std::size_t... Tokens>
struct Forward {
  Layer layer;
  Guarded<typename Layer::Workspace> workspace;
  Tensor<float, Tokens..., DIn> x;
  Guarded<Tensor<float, Tokens..., DOut>> out;

  constexpr void draw_inputs(Draw& draw) noexcept {
    draw(layer);
    draw.draw(x, 2.0f);
  }

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    draw_inputs(draw);
    compute(by, outputs);
  }
  constexpr void compute(auto by, auto& outputs, const auto&... mask) noexcept {
    by.forward(layer, x, mask..., out.tensor, workspace.tensor);
    outputs.take("out", out);
    outputs.check_guards(workspace);
  }
};

// The same layer with weights of int8.
constexpr AttentionConfig in_int8(AttentionConfig config) noexcept {
  config.weights = Weights::int8;
  return config;
}

// The same layer with a cache of int8.
constexpr AttentionConfig with_window(AttentionConfig config, std::size_t window) noexcept {
  config.window = window;
  return config;
}
constexpr AttentionConfig with_int8_cache(AttentionConfig config) noexcept {
  config.cache = Weights::int8;
  return config;
}

template <AttentionConfig config, std::size_t... Tokens>
using ForwardOf = Forward<MultiHeadAttention<config>, config.d_in, config.d_out, Tokens...>;

// Computes attention step by step, each step by an operation of its own, and then by the layer: the first output that differs names the
// step.
template <AttentionConfig config, std::size_t Tokens>
struct StepByStep : ForwardOf<config, Tokens> {
  Matrix<float, Tokens, config.d_out> query, key, value;
  Matrix<float, Tokens, Tokens> scores;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    auto& result = this->out.tensor;
    by.norm(this->layer.query, this->x, query);
    outputs.take("query", query);
    by.norm(this->layer.key, this->x, key);
    outputs.take("key", key);
    by.norm(this->layer.value, this->x, value);
    outputs.take("value", value);
    by.matmul_transposed(query, key, scores);
    outputs.take("scores", scores);
    masked_fill(scores, triu(ones<bool, Tokens, Tokens>(), 1), -infinity, scores);
    by.softmax(scores, detail::inverse_sqrt<config.d_out>, scores);
    outputs.take("weights", scores);
    by.matmul(scores, value, result);
    outputs.take("context", result);
    const auto context = result;
    by.norm(this->layer.out_proj, context, result);
    outputs.take("output projection", result);
    by.forward(this->layer, this->x, result, this->workspace.tensor);
    outputs.take("layer", result);
  }
};

template <AttentionConfig config, class Mask, std::size_t... Tokens>
struct ForwardMasked : ForwardOf<config, Tokens...> {
  Mask mask;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    draw(mask);
    this->compute(by, outputs, mask);
  }
};

template <AttentionConfig config, std::size_t Tokens, std::size_t SourceTokens>
struct CrossForward : ForwardOf<config, Tokens> {
  Matrix<float, SourceTokens, config.d_in> key_input, value_input;
  Guarded<Tensor<float, config.num_heads, Tokens, SourceTokens>> weights;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    draw.draw(key_input, 2.0f);
    draw(value_input);
    by.forward(this->layer, this->x, key_input, value_input, NoMask{}, this->out.tensor, this->workspace.tensor);
    outputs.take("out", this->out);
    by.forward_with_weights(this->layer, this->x, key_input, value_input, this->out.tensor, weights.tensor, this->workspace.tensor);
    outputs.take("out, with weights", this->out);
    outputs.take("weights", weights);
    outputs.check_guards(this->workspace);
  }
};

template <AttentionConfig config, std::size_t... Tokens>
struct ForwardWithWeights : ForwardOf<config, Tokens...> {
  using X = decltype(ForwardWithWeights::x);
  Guarded<detail::WithHeads<X, config.num_heads, detail::LayoutOf<X>::rows>> weights;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    by.forward_with_weights(this->layer, this->x, this->out.tensor, weights.tensor, this->workspace.tensor);
    outputs.take("out", this->out);
    outputs.take("weights", weights);
    outputs.check_guards(this->workspace);
  }
};

constexpr Vector<float, 1> too_many_tokens(Status status) noexcept { return vector({status == Status::ok ? 0.0f : 1.0f}); }

// Forwards no token, one, all but one, all, and one too many. Rows that a call does not write keep what they held.
template <AttentionConfig config, std::size_t Tokens>
struct ForwardOfSomeTokens : ForwardOf<config, Tokens> {
  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    for (const std::size_t num_tokens : {std::size_t{0}, std::size_t{1}, Tokens - 1, Tokens, Tokens + 1}) {
      this->out.tensor = full<float, Tokens, config.d_out>(12345.678f);
      const Status status = by.forward(this->layer, this->x, opaque(num_tokens), this->out.tensor, this->workspace.tensor);
      outputs.take("out", this->out);
      outputs.take("too many tokens", too_many_tokens(status));
    }
  }
};

template <AttentionConfig config, class Generator, std::size_t... Tokens>
struct TrainingPass : ForwardOf<config, Tokens...> {
  Generator generator{opaque(123u)};

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    by.forward(this->layer, this->x, this->out.tensor, this->workspace.tensor, generator);
    outputs.take("out", this->out);
    by.forward(this->layer, this->x, this->out.tensor, this->workspace.tensor, generator);
    outputs.take("out of the next pass", this->out);
    outputs.check_guards(this->workspace);
  }
};

// Hands over the parameters in the order in which `initialize` draws them.
template <AttentionConfig config, class Generator>
struct Initialize {
  Generator generator{opaque(123u)};
  MultiHeadAttention<config> layer;

  constexpr void operator()(Draw&, auto, auto& outputs) noexcept {
    initialize(layer, generator);
    outputs.take("query.weight", layer.query.weight);
    outputs.take("query.bias", layer.query.bias);
    outputs.take("key.weight", layer.key.weight);
    outputs.take("value.weight", layer.value.weight);
    outputs.take("out_proj.weight", layer.out_proj.weight);
    outputs.take("out_proj.bias", layer.out_proj.bias);
  }
};

// NaN in a key and infinity in a value, under the causal mask: earlier tokens do not attend to them, later tokens do.
template <std::size_t Tokens, std::size_t Dim>
struct AttentionNotFinite {
  Matrix<float, Tokens, Dim> query, key, value, out;
  Matrix<float, Tokens, Tokens> weights;

  void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    draw(query, key, value);
    key(Tokens / 2, 1) = quiet_nan;
    value(Tokens - 1, 0) = infinity;
    by.attention(query, key, value, Causal{}, weights, out);
    outputs.take("out", out);
    outputs.take("weights", weights);
  }
};

// --- Every form of a call ---

inline constexpr auto call_context = [](auto by, auto&&... args) { return by.context(args...); };

// Every form of a call: by value, into an output, of a batch under one mask, and of one head, whose input and output are views of columns.
template <class Mask>
struct AttentionForms {
  Matrix<float, 5, 4> query;
  Matrix<float, 7, 4> key;
  Matrix<float, 7, 3> value;
  Tensor<float, 2, 5, 4> queries;
  Tensor<float, 2, 7, 4> keys;
  Tensor<float, 2, 7, 3> values;
  Matrix<float, 5, 9> wide_query, wide_out;
  Matrix<float, 7, 9> wide_key;
  Mask mask;
  Guarded<Matrix<float, 5, 3>> out;
  Guarded<Tensor<float, 2, 5, 3>> outs;
  Guarded<Tensor<float, 2, 5, 7>> weights;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    draw(query, key, value, queries, keys, values, wide_query, wide_out, wide_key, mask);
    outputs.take("by value", by_value(by, call_context, out.tensor, query, key, value, mask));
    by.context(query, key, value, mask, out.tensor);
    outputs.take("into an output", out);
    by.attention(queries, keys, values, mask, weights.tensor, outs.tensor);
    outputs.take("of a batch", outs);
    outputs.take("weights of a batch", weights);
    auto to = columns<3>(wide_out, 3);
    by.context(columns<3>(wide_query, 3), columns<3>(wide_key, 3), columns<3>(wide_key, 6), mask, to);
    outputs.take("of a head", wide_out);
  }
};

// Every form of a call of a layer, a block or a transformer: into an output, of a batch, of views, under a mask, of the first rows, in
// place. The rows of x after those counted are NaN, and no call may read them.
template <class Module, std::size_t Tokens, std::size_t DIn, std::size_t DOut = DIn>
struct Forms : Forward<Module, DIn, DOut, Tokens> {
  KeepMask<Tokens, Tokens> keep;
  Tensor<float, 2, Tokens, DIn> batch;
  Matrix<float, Tokens, DIn + 3> wide_x;
  Matrix<float, Tokens, DOut + 3> wide_out;
  Guarded<Tensor<float, 2, Tokens, DOut>> batch_out;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    draw(keep, batch, wide_x, wide_out);
    auto& scratch = this->workspace.tensor;
    by.forward(this->layer, this->x, this->out.tensor, scratch);
    outputs.take("into an output", this->out);
    by.forward(this->layer, batch, batch_out.tensor, scratch);
    outputs.take("of a batch", batch_out);
    const MatrixView<const float, Tokens, DIn, DIn + 3> from{wide_x.data()};
    MatrixView<float, Tokens, DOut, DOut + 3> to{wide_out.data()};
    by.forward(this->layer, from, to, scratch);
    outputs.take("of views", wide_out);
    if constexpr (requires { typename Module::Cache; }) take_masked(by, outputs);
    if constexpr (DIn == DOut) {
      by.forward(this->layer, batch, batch, scratch);
      outputs.take("in place", batch);
    }
    outputs.check_guards(this->workspace);
  }

 private:
  constexpr void take_masked(auto by, auto& outputs) noexcept {
    by.forward(this->layer, this->x, keep, this->out.tensor, this->workspace.tensor);
    outputs.take("under a mask", this->out);
    if constexpr (DIn == DOut) {
      auto both = this->x;
      by.forward(this->layer, both, keep, both, this->workspace.tensor);
      outputs.take("under a mask, in place", both);
      both = this->x;
      static_cast<void>(by.forward(this->layer, both, Tokens / 2, both, this->workspace.tensor));
      outputs.take("of the first rows, in place", both);
    }
    for (std::size_t count = 0; count <= Tokens + 1; ++count) {
      auto poisoned = this->x;
      if (!std::is_constant_evaluated())
        for (std::size_t i = count * DIn; i < poisoned.size(); ++i) poisoned.data()[i] = quiet_nan;
      this->out = {};
      const Status status = by.forward(this->layer, poisoned, opaque(count), this->out.tensor, this->workspace.tensor);
      outputs.take("of the first rows", this->out);
      outputs.take("too many tokens", too_many_tokens(status));
    }
  }
};

template <AttentionConfig config, std::size_t Tokens>
using FormsOf = Forms<MultiHeadAttention<config>, Tokens, config.d_in, config.d_out>;

// Cross-attention of a batch: under a mask; with every pair of counts, from 0 to one too many; in place.
template <AttentionConfig config, class Mask, std::size_t Tokens, std::size_t SourceTokens>
struct CrossForms : ForwardOf<config, 2, Tokens> {
  Tensor<float, 2, SourceTokens, config.d_in> key_input, value_input;
  Mask mask;
  Guarded<Tensor<float, 2, config.num_heads, Tokens, SourceTokens>> weights;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    draw(key_input, value_input, mask);
    auto& scratch = this->workspace.tensor;
    by.forward(this->layer, this->x, key_input, value_input, mask, this->out.tensor, scratch);
    outputs.take("out", this->out);
    if constexpr (by.has_weights) {
      by.forward_with_weights(this->layer, this->x, key_input, value_input, this->out.tensor, weights.tensor, scratch);
      outputs.take("out, with weights", this->out);
      outputs.take("weights", weights);
    }
    for (std::size_t tokens = 0; tokens <= Tokens + 1; ++tokens)
      for (std::size_t source_tokens = 0; source_tokens <= SourceTokens + 1; ++source_tokens) {
        this->out = {};
        const Status status = by.forward(this->layer, this->x, key_input, value_input, opaque(tokens), opaque(source_tokens), mask,
                                         this->out.tensor, scratch);
        outputs.take("of the first rows", this->out);
        outputs.take("too many tokens", too_many_tokens(status));
      }
    if constexpr (config.d_in == config.d_out) {
      by.forward(this->layer, this->x, key_input, value_input, mask, this->x, scratch);
      outputs.take("in place", this->x);
    }
    outputs.check_guards(this->workspace);
  }
};

// --- Masks ---

// Five ways to say the same: key j <= i.
struct CausalWays {
  Matrix<float, 6, 4> query, key;
  Matrix<float, 6, 3> value;
  Guarded<Matrix<float, 6, 3>> out;
  Guarded<Matrix<float, 6, 6>> weights;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    draw(query, key, value);
    const auto take = [&](const auto& mask) {
      by.attention(query, key, value, mask, weights.tensor, out.tensor);
      outputs.take("out", out);
      outputs.take("weights", weights);
    };
    take(Causal{});
    take(CausalBottomRight{});
    take(AdditiveMask{causal_mask<6>()});
    take(KeepMask{tril(ones<bool, 6, 6>())});
    take(BlockMask{triu(ones<bool, 6, 6>(), 1)});
  }
};

// Returns 1 if every element is finite, so that nothing leaked from what is masked; otherwise 0.
constexpr Vector<float, 1> is_finite(const auto& m) noexcept {
  bool finite = true;
  for (const float element : m.elements) finite = finite && element - element == 0.0f;
  return vector({finite ? 1.0f : 0.0f});
}

// NaN and infinity in a key and a value that every query masks; the values are wide, 32 features.
struct MaskedNotFinite {
  Matrix<float, 6, 4> query, key;
  Matrix<float, 6, 32> value, out;
  KeepMask<6, 6> keep;
  Matrix<float, 6, 6> weights;

  void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    draw(query, key, value, keep);
    AdditiveMask<6, 6> addends{};
    BlockMask<6, 6> block{};
    for (std::size_t i = 0; i < 36; ++i) {
      bool& is_kept = keep.tensor.elements[i];
      is_kept = is_kept && i % 6 != 4;
      block.tensor.elements[i] = !is_kept;
      addends.tensor.elements[i] = is_kept ? 0.0f : -infinity;
    }
    for (const float poison : {quiet_nan, infinity, -infinity}) {
      for (std::size_t j = 0; j < 4; ++j) key(4, j) = poison;
      for (std::size_t j = 0; j < 32; ++j) value(4, j) = poison;
      const auto take = [&](const auto& mask) {
        by.attention(query, key, value, mask, weights, out);
        outputs.take("out", out);
        outputs.take("weights", weights);
        outputs.take("no leak", is_finite(out));
      };
      take(keep);
      take(block);
      take(addends);
      by.attention(query, key, value, Causal{}, weights, out);  // only rows 4 and 5 may be NaN
      outputs.take("causal", out);
    }
  }
};

// NaN and infinity in a token that a padding mask masks: the outputs of all others, before and after it, stay finite.
template <AttentionConfig config>
struct MaskedTokenNotFinite : ForwardOf<config, 5> {
  void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    this->draw_inputs(draw);
    const auto keep = vector<bool>({true, true, false, true, true});
    for (const float poison : {quiet_nan, infinity, -infinity}) {
      for (std::size_t j = 0; j < config.d_in; ++j) this->x(2, j) = poison;
      const auto take = [&](const auto& mask) {
        by.forward(this->layer, this->x, mask, this->out.tensor, this->workspace.tensor);
        for (const std::size_t i : {0u, 1u, 3u, 4u}) outputs.take("no leak", is_finite(row(this->out.tensor, i)));
        outputs.take("out", this->out);
      };
      take(KeepMask{keep});
      take(BlockMask{masked_fill(ones<bool, 5>(), keep, false)});
      take(AdditiveMask{masked_fill(full<float, 5>(-infinity), keep, 0.0f)});
    }
  }
};

}  // namespace tinyattn::test
