// SPDX-License-Identifier: MIT
//
// Drawn calls of the functions of tinyattn.h.
#pragma once

#include "parts.hpp"

namespace tinyattn::test {

inline void multiply(Call& call) {
  const Size rows = call.random.size(), inner = call.random.size(40), cols = call.random.size();
  float *const a = call.input(rows * inner, true), *const b = call.input(inner * cols, true), *const out = call.output(rows * cols);
  for (const bool transposes : {false, true}) {
    const auto multiply = transposes ? tinyattn_matmul_transposed : tinyattn_matmul;
    call.makes([&] { return multiply(rows, inner, cols, a, b, out); });
    for (float* const input : {a, b}) call.refuses([&] { return multiply(rows, inner, cols, a, b, input); });
    call.gives(out, rows, cols, [&](plain::Output to) {
      plain::matmul(matrix(a, rows, inner), transposes ? matrix(b, cols, inner).transposed() : matrix(b, inner, cols), to);
    });
  }
}

inline void softmax(Call& call) {
  const Size rows = call.random.size(8), cols = call.random.size();
  const float spread = call.random.one_of({1.0f, 8.0f, 64.0f}), scale = call.random.one_of({0.0f, 1e-3f, 0.35f, 1.0f, 3.0f});
  float* const m = call.input(rows * cols, true);
  for (Size i = 0; i < rows * cols; ++i) m[i] = call.random.one_in(20) ? -infinity : m[i] * spread;
  float* const out = call.output(rows * cols);
  call.makes([&] { return tinyattn_softmax(rows, cols, scale, m, out); });
  call.gives(out, rows, cols, [&](plain::Output to) { plain::softmax(matrix(m, rows, cols), scale, to); });
}

inline void attention(Call& call) {
  const Size tokens = call.random.size(), sources = call.random.size();
  const Size key_dim = call.random.size(20), value_dim = call.random.size(20);
  float *const query = call.input(tokens * key_dim, true), *const key = call.input(sources * key_dim, true);
  float *const value = call.input(sources * value_dim, true), *const out = call.output(tokens * value_dim);
  const DrawnMask drawn = draw_mask(call, tokens, sources);
  const Size floats = tinyattn_attention_scratch(tokens, sources);
  call.check(floats == TINYATTN_ATTENTION_SCRATCH(tokens, sources), "a size differs from its macro");
  float* const scratch = call.garbage(floats);
  const auto attend = [&](float* to) {
    return tinyattn_attention(tokens, sources, key_dim, value_dim, query, key, value, &drawn.mask, to, scratch);
  };
  call.makes([&] { return attend(out); });
  for (float* const input : {query, key, value}) call.refuses([&] { return attend(input); });
  call.gives(out, tokens, value_dim, [&](plain::Output to) {
    plain::attention(matrix(query, tokens, key_dim), matrix(key, sources, key_dim), matrix(value, sources, value_dim), drawn.plain, {}, to);
  });
}

// A layer, of one input without a mask, or of several.
template <Kind kind>
void layer(Call& call) {
  Random& random = call.random;
  const Size heads = 1 + random.below(8), head_dim = 1 + random.below(10), d_out = heads * head_dim, d_in = random.size(40);
  const Size kv_heads = random.divisor(heads), kv = kv_heads * head_dim;
  const bool is_cross = random.one_in(2), has_mask = is_cross || random.one_in(2), is_int8 = kind == Kind::int8;
  const Size tokens = random.size(50), sources = is_cross ? random.size(50) : tokens;
  tinyattn_layer layer{};
  layer.d_in = d_in, layer.d_out = d_out, layer.num_heads = heads, layer.causal = random.one_in(2);
  layer.num_kv_heads = kv_heads == heads && random.one_in(2) ? 0 : kv_heads;
  layer.query = draw_linear(call, kind, d_in, d_out, true), layer.key = draw_linear(call, kind, d_in, kv);
  layer.value = draw_linear(call, kind, d_in, kv, true);
  if (random.one_in(2)) layer.out_proj = draw_linear(call, kind, d_out, d_out);
  const DrawnRotation rotation = draw_rotation(call, std::max(tokens, sources), head_dim);
  layer.rotary = rotation.rotary, layer.cosines = rotation.cosines, layer.sines = rotation.sines;
  float *const x = call.input(tokens * d_in), *const keys = is_cross ? call.input(sources * d_in) : x;
  float* const values = is_cross && random.one_in(2) ? call.input(sources * d_in) : keys;
  DrawnMask drawn = draw_mask(call, tokens, sources);
  if (!has_mask) drawn.plain = {};
  drawn.plain.is_causal = layer.causal;
  const Size floats = is_int8 ? tinyattn_layer_scratch_int8(d_in, d_out, tokens, sources) : tinyattn_layer_scratch(d_out, tokens, sources);
  call.check(
      floats == (is_int8 ? TINYATTN_LAYER_SCRATCH_INT8(d_in, d_out, tokens, sources) : TINYATTN_LAYER_SCRATCH(d_out, tokens, sources)),
      "a size differs from its macro");
  // Heads that share keys take less.
  float *const out = call.output(tokens * d_out), *const scratch = call.garbage(TINYATTN_GROUPED_LAYER_SCRATCH(d_out, kv, tokens, sources) +
                                                                                floats - TINYATTN_LAYER_SCRATCH(d_out, tokens, sources));
  const auto forward = [&](float* to) {
    if (!has_mask) return (is_int8 ? tinyattn_forward_int8 : tinyattn_forward)(&layer, tokens, x, to, scratch);
    return (is_int8 ? tinyattn_cross_forward_int8 : tinyattn_cross_forward)(&layer, tokens, sources, x, keys, values, &drawn.mask, to,
                                                                            scratch);
  };
  call.makes([&] { return forward(out); });
  if (is_cross)
    for (float* const input : {keys, values}) call.refuses([&] { return forward(input); });
  call.gives(out, tokens, d_out, [&](plain::Output to) {
    const plain::Layer plain_layer{heads,
                                   kv_heads,
                                   plainly(layer.query, d_in, d_out),
                                   plainly(layer.key, d_in, kv),
                                   plainly(layer.value, d_in, kv),
                                   plainly(layer.out_proj, d_out, d_out),
                                   rotation.plainly()};
    plain::forward(plain_layer, matrix(x, tokens, d_in), matrix(keys, sources, d_in), matrix(values, sources, d_in), drawn.plain, to);
  });
}

inline void linear_int8(Call& call) {
  const Size rows = call.random.size(), inputs = call.random.size(), outputs = call.random.size();
  const tinyattn_linear linear = draw_linear(call, Kind::int8, inputs, outputs, true);
  float *const x = call.input(rows * inputs, true), *const out = call.output(rows * outputs);
  float* const scratch = call.garbage(TINYATTN_LINEAR_SCRATCH_INT8(rows, inputs));
  const auto forward = [&](float* to) { return tinyattn_linear_forward_int8(&linear, rows, inputs, outputs, x, to, scratch); };
  call.makes([&] { return forward(out); });
  call.refuses([&] { return forward(x); });
  call.gives(out, rows, outputs, [&](plain::Output to) { plainly(linear, inputs, outputs)(matrix(x, rows, inputs), to); });
}

template <Kind kind>
void convolution(Call& call) {
  Random& random = call.random;
  tinyattn_convolution convolution{random.size(8), random.size(40), 1 + random.below(9), 1 + random.below(3), 0, {}};
  convolution.padding = random.below(convolution.kernel);
  const Size tokens = convolution.kernel + random.below(30), width = convolution.kernel * convolution.in, outputs = convolution.out;
  convolution.linear = draw_linear(call, kind, width, outputs);
  const Size made = tinyattn_conv1d_tokens(&convolution, tokens);
  float *const x = call.input(tokens * convolution.in), *const out = call.output(made * outputs);
  float* const scratch = kind == Kind::f32 ? nullptr : call.garbage(TINYATTN_CONV1D_SCRATCH_INT8(made, width));
  const auto convolve = [&](float* to) {
    return kind == Kind::f32 ? tinyattn_conv1d(&convolution, tokens, x, to) : tinyattn_conv1d_int8(&convolution, tokens, x, to, scratch);
  };
  call.makes([&] { return convolve(out); });
  call.refuses([&] { return convolve(x); });
  call.gives(out, made, outputs, [&](plain::Output to) {
    const plain::Convolution plain_convolution{plainly(convolution.linear, width, outputs), convolution.kernel, convolution.stride,
                                               convolution.padding};
    plain_convolution(matrix(x, tokens, convolution.in), to);
  });
}

inline void rows(Call& call) {
  const Size tokens = call.random.size(40), features = call.random.size();
  const auto activation = call.random.below(kernel::num_activations);
  const float *const x = call.input(tokens * features), *const mean = call.input(features), *const deviation = call.input(features);
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
  call.gives(out, tokens, features, [&](plain::Output to) {
    plain::for_each(all, to, [=](float element) { return plain::activation(static_cast<Activation>(activation), element); });
  });
}

}  // namespace tinyattn::test
