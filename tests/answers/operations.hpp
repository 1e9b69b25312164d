// SPDX-License-Identifier: MIT
//
// Drawn calls of the functions of tinyattn.h.
#pragma once

#include "parts.hpp"

namespace tinyattn::test {

inline void multiply(Call& call) {
  const Size rows = call.random.size(), inner = call.random.size(40), cols = call.random.size();
  float *const a = call.input(rows * inner, Numbers::special), *const b = call.input(inner * cols, Numbers::special);
  float* const out = call.output(rows * cols);
  for (const bool transposes : {false, true}) {
    const auto multiply = transposes ? tinyattn_matmul_transposed : tinyattn_matmul;
    call.makes([&] { return multiply(rows, inner, cols, a, b, out); });
    for (float* const input : {a, b}) call.refuses([&] { return multiply(rows, inner, cols, a, b, input); });
    call.refuses([&] { return multiply(SIZE_MAX / inner, inner, cols, a, b, out); });
    call.gives(out, rows, cols, [&](plain::Output to) {
      plain::matmul(matrix(a, rows, inner), transposes ? matrix(b, cols, inner).transposed() : matrix(b, inner, cols), to);
    });
  }
}

inline void softmax(Call& call) {
  const Size rows = call.random.size(8), cols = call.random.length();
  const float spread = call.random.one_of({1.0f, 8.0f, 64.0f, 3e38f}), scale = call.random.one_of({0.0f, 1e-3f, 0.35f, 1.0f, 3.0f});
  float* const m = call.input(rows * cols, Numbers::special);
  for (Size i = 0; i < rows * cols; ++i) m[i] = call.random.one_in(20) ? -infinity : m[i] * spread;
  float *const out = call.in_place(m, rows * cols), *const from = call.random.one_of({m, out});
  call.makes([&] { return tinyattn_softmax(rows, cols, scale, from, out); });
  call.gives(out, rows, cols, [&](plain::Output to) { plain::softmax(matrix(m, rows, cols), scale, to); });
}

inline void attention(Call& call) {
  const Size tokens = call.random.size(), sources = call.random.size();
  const Size key_dim = call.random.size(20), value_dim = call.random.size(20);
  float *const query = call.input(tokens * key_dim, Numbers::special), *const key = call.input(sources * key_dim, Numbers::special);
  float *const value = call.input(sources * value_dim, Numbers::special), *const out = call.output(tokens * value_dim);
  const DrawnMask drawn = draw_mask(call, tokens, sources);
  const Size floats = tinyattn_attention_scratch(tokens, sources);
  call.check(floats == TINYATTN_ATTENTION_SCRATCH(tokens, sources), "a size differs from its macro");
  float* const scratch = call.garbage(floats);
  const auto attend = [&](const tinyattn_mask& mask, float* to) {
    return tinyattn_attention(tokens, sources, key_dim, value_dim, query, key, value, &mask, to, scratch);
  };
  call.makes([&] { return attend(drawn.mask, out); });
  for (float* const input : {query, key, value}) call.refuses([&] { return attend(drawn.mask, input); });
  for (const auto kind : {TINYATTN_BLOCK_MASK, TINYATTN_ADDITIVE_MASK})
    call.refuses([&] { return attend({kind, false, nullptr, nullptr}, out); });
  call.gives(out, tokens, value_dim, [&](plain::Output to) {
    plain::attention(matrix(query, tokens, key_dim), matrix(key, sources, key_dim), matrix(value, sources, value_dim), drawn.plain, {}, to);
  });
}

// A layer: self-attention without a mask, or with other inputs and masks.
template <Kind kind>
void layer(Call& call) {
  Random& random = call.random;
  const Heads of = draw_heads(random);
  const Size heads = of.count, head_dim = of.dim, d_out = heads * head_dim, d_in = random.size(40);
  const Size kv_heads = random.divisor(heads), kv = kv_heads * head_dim;
  const bool is_cross = random.one_in(2), has_mask = is_cross || random.one_in(2), is_int8 = kind == Kind::int8;
  const Size tokens = random.size(50), sources = is_cross ? random.size(50) : tokens;
  tinyattn_layer layer{};
  layer.kind = is_int8 ? &tinyattn_layer_int8 : &tinyattn_layer_floats;
  layer.d_in = d_in, layer.d_out = d_out, layer.num_heads = heads, layer.causal = random.one_in(2);
  layer.num_kv_heads = kv_heads == heads && random.one_in(2) ? 0 : kv_heads;
  layer.query = draw_linear(call, kind, d_in, d_out, Numbers::special), layer.key = draw_linear(call, kind, d_in, kv);
  layer.value = draw_linear(call, kind, d_in, kv, Numbers::special);
  if (random.one_in(2)) layer.out_proj = draw_linear(call, kind, d_out, d_out);
  const DrawnRotation rotation = draw_rotation(call, std::max(tokens, sources), head_dim);
  layer.rotary = rotation.rotary, layer.cosines = rotation.cosines, layer.sines = rotation.sines;
  float *const x = call.input(tokens * d_in), *const keys = is_cross ? call.input(sources * d_in) : x;
  float* const values = is_cross && random.one_in(2) ? call.input(sources * d_in) : keys;
  const bool overlaps = d_out <= d_in && random.one_in(2);
  float* const out = overlaps ? call.in_place(x, tokens * d_in, tokens * d_out) : call.output(tokens * d_out);
  DrawnMask drawn = draw_mask(call, tokens, sources);
  if (!has_mask) drawn.plain = {};
  drawn.plain.is_causal = layer.causal;
  const Size floats = tinyattn_layer_scratch(&layer, tokens, sources);
  call.check(floats == TINYATTN_GROUPED_LAYER_SCRATCH(d_out, kv, tokens, sources) +
                           (is_int8 ? TINYATTN_INTEGERS(tokens, TINYATTN_MORE(d_in, d_out)) : 0),
             "a size differs from its macro");
  float* const scratch = call.garbage(floats);
  float* const queries = overlaps ? out : x;
  const auto forward = [&](const tinyattn_layer& one, float* to) {
    if (!has_mask) return tinyattn_forward(&one, tokens, queries, to, scratch);
    return tinyattn_cross_forward(&one, tokens, sources, queries, is_cross ? keys : queries, is_cross ? values : queries, &drawn.mask, to,
                                  scratch);
  };
  call.makes([&] { return forward(layer, out); });
  if (is_cross)
    for (float* const input : {keys, values}) call.refuses([&] { return forward(layer, input); });
  tinyattn_layer of_odd_heads = layer;
  of_odd_heads.rotary = TINYATTN_HALVES, of_odd_heads.cosines = of_odd_heads.sines = x;
  if (head_dim % 2 != 0) call.refuses([&] { return forward(of_odd_heads, out); });
  call.gives(out, tokens, d_out, [&](plain::Output to) {
    plain::forward(plainly(layer, d_in, d_out, heads, kv_heads, rotation.plainly()), matrix(x, tokens, d_in), matrix(keys, sources, d_in),
                   matrix(values, sources, d_in), drawn.plain, to);
  });
}

inline void linear_int8(Call& call) {
  const Size inputs = call.random.length(), rows = call.random.size(inputs > Random::any_size ? 8 : Random::any_size);
  const Size outputs = call.random.size();
  const tinyattn_linear linear = draw_linear(call, Kind::int8, inputs, outputs, Numbers::special);
  float *const x = call.input(rows * inputs, Numbers::special), *const out = call.output(rows * outputs);
  // The row's largest number: around where the step changes, and around 2^-64, below which all integers are 0.
  float* const row = x + call.random.below(rows) * inputs;
  const float unit = call.random.one_of({1.0f, 0.5f, 0.0f});
  std::transform(row, row + inputs, row, [=](float number) { return unit * number; });
  row[call.random.below(inputs)] = call.random.one_of({0x1.fffbp-1f, 0x1.fffcp-1f, 0x1.fffep-1f, 0x1p-64f, 0x1.fffp-65f, infinity});
  float* const scratch = call.garbage(TINYATTN_INTEGERS(rows, inputs));
  const auto forward = [&](float* to) {
    return tinyattn_linear_forward(&tinyattn_linear_int8, &linear, rows, inputs, outputs, x, to, scratch);
  };
  call.makes([&] { return forward(out); });
  call.refuses([&] { return forward(x); });
  call.gives(out, rows, outputs, [&](plain::Output to) { plainly(linear, inputs, outputs)(matrix(x, rows, inputs), to); });
}

template <Kind kind>
void convolution(Call& call) {
  Random& random = call.random;
  constexpr bool is_int8 = kind == Kind::int8;
  const Size in = random.size(8), outputs = random.size(40), kernel = 1 + random.below(9), stride = 1 + random.below(3);
  const Size padding = random.below(kernel), tokens = kernel + random.below(30), width = kernel * in;
  const auto* const of_kind = is_int8 ? &tinyattn_convolution_int8 : &tinyattn_convolution_floats;
  tinyattn_convolution convolution{of_kind, in, outputs, kernel, stride, padding, draw_linear(call, kind, width, outputs)};
  const Size made = tinyattn_conv1d_tokens(&convolution, tokens);
  float *const x = call.input(tokens * in), *const out = call.output(made * outputs);
  float* const scratch = is_int8 ? call.garbage(TINYATTN_CONV1D_SCRATCH(made, width)) : nullptr;
  const auto convolve = [&](float* to) { return tinyattn_conv1d(&convolution, tokens, x, to, scratch); };
  call.makes([&] { return convolve(out); });
  call.refuses([&] { return convolve(x); });
  convolution.padding = kernel;
  call.refuses([&] { return convolve(out); });
  call.gives(out, made, outputs, [&](plain::Output to) {
    plain::Convolution{plainly(convolution.linear, width, outputs), kernel, stride, padding}(matrix(x, tokens, in), to);
  });
}

inline void rows(Call& call) {
  const Size features = call.random.length(), tokens = call.random.size(features > Random::any_size ? 8 : 40);
  const Activation activation = call.activation();
  float* const x = call.input(tokens * features, Numbers::special);
  const float unit = call.random.one_of({1.0f, 8.0f, 100.0f});
  for (Size i = 0; i < tokens * features; ++i) x[i] = call.random.one_in(10) ? call.random.one_of({0.0f, -0.0f}) : unit * x[i];
  const float *const mean = call.input(features), *const deviation = call.input(features);
  const tinyattn_norm norm = draw_norm(call, features);
  float *const of_all = call.output(features), *const out = call.output(tokens * features), *const both = call.output(tokens * features);
  const plain::Input all = matrix(x, tokens, features);
  call.makes([&] { return tinyattn_mean(tokens, features, x, of_all); });
  call.gives(of_all, 1, features, [&](plain::Output to) { plain::mean(all, to); });
  call.makes([&] { return tinyattn_largest(tokens, features, x, of_all); });
  call.gives(of_all, 1, features, [&](plain::Output to) { plain::largest(all, to); });
  for (const auto pool : {tinyattn_mean, tinyattn_largest}) {
    std::copy_n(x, tokens * features, both);
    call.makes([&] { return pool(tokens, features, both, both); });
    call.gives(both, 1, features, [&](plain::Output to) { (pool == tinyattn_mean ? plain::mean : plain::largest)(all, to); });
  }
  call.makes([&] { return tinyattn_standardize(tokens, features, x, mean, deviation, out); });
  call.gives(out, tokens, features, [&](plain::Output to) { plain::standardize(all, mean, deviation, to); });
  call.makes([&] { return tinyattn_normalize(&norm, tokens, features, x, out); });
  call.gives(out, tokens, features, [&](plain::Output to) { plain::norm(all, plainly(norm), to); });
  call.makes([&] { return tinyattn_activate(static_cast<tinyattn_activation>(activation), tokens * features, x, out); });
  call.gives(out, tokens, features,
             [&](plain::Output to) { plain::for_each(all, to, [=](float element) { return plain::activation(activation, element); }); });
}

}  // namespace tinyattn::test
