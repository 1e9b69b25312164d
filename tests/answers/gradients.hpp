// SPDX-License-Identifier: MIT
//
// Drawn backward passes of layers and functions: all kernels of training/kernel/ except attention's.
#pragma once

#include "parts.hpp"
#include "results.hpp"
#include "tinyattn/training/kernel/adapter.hpp"
#include "tinyattn/training/kernel/convolution.hpp"
#include "tinyattn/training/kernel/feed_forward.hpp"
#include "tinyattn/training/kernel/normalization.hpp"
#include "tinyattn/training/kernel/pooling.hpp"
#include "tinyattn/training/kernel/row.hpp"

namespace tinyattn::test {

inline kernel::Projection<> projection(const tinyattn_linear& linear) { return {linear.weight, linear.bias}; }
inline kernel::Norm described(const tinyattn_norm& norm, Size dim) { return {dim, norm.weight, norm.bias, norm.epsilon}; }

// A product of few rows may be so long that its weight is split into several blocks.
struct Sizes {
  Size rows, in, out;
};
inline Sizes draw_sizes(Call& call) {
  const bool is_long = call.random.one_in(6);
  const Size rows = call.random.size(is_long ? 8 : 70), in = call.random.size(is_long ? 8 : 70);
  return {rows, in, is_long ? 100 + call.random.below(500) : call.random.size()};
}

// The input's gradient starts at 0, accumulates, or starts at a given row, as only a product alone can.
inline void linear_gradients(Call& call) {
  const Sizes sizes = draw_sizes(call);
  const Size rows = sizes.rows, in = sizes.in, out = sizes.out;
  const Size begin = call.random.below(3);
  Rows x = draw_input(call, rows, in, draw_gap(call), Numbers::special);
  const Rows d_out = draw_input(call, rows, out, draw_gap(call), Numbers::special), start = draw_input(call, 1, in);
  const plain::Input plain_x = x;
  const plain::Linear linear{matrix(call.input(in * out, Numbers::special), in, out)};
  const Gradient gradient = draw_gradients(call, in, out);
  const Result d_x = draw_result(call, rows, in, draw_gap(call));
  if (begin != 1) draw_place(call, d_x, x);
  by_kernel(call, [&] {
    const float* const weight = linear.weight.first;
    kernel::add_projection_gradient<Port>(rows, in, out, x, d_out, gradient);
    if (begin == 0)
      kernel::project_backward<Port>(rows, in, out, d_out, weight, d_x.of_kernel);
    else if (begin == 1)
      kernel::project_backward<Port, true>(rows, in, out, d_out, weight, d_x.of_kernel);
    else
      kernel::multiply_transposed<Port>(
          kernel::Product<kernel::Dense, kernel::Transposed<>>{rows, out, in, d_out, {{weight, out}}, start.first, d_x.of_kernel});
  });
  by_twin([&] {
    plain::add_gradient(plain_x, d_out, gradient.of_twin());
    if (begin == 0) plain::clear(d_x.of_twin);
    if (begin == 2) plain::copy(plain::Input{start.first, rows, in, 0}, d_x.of_twin);
    plain::add_product(d_out, linear.weight, d_x.of_twin);
  });
  gives(call, gradient, d_x);
}

// Forward and backward. With int8 weights the backward pass reads the base dequantized.
template <Size rank, Kind kind>
void adapted_linear(Call& call) {
  const Sizes sizes = draw_sizes(call);
  const Size rows = sizes.rows, in = sizes.in, out = sizes.out;
  const Rows x = draw_input(call, rows, in, draw_gap(call)), d_out = draw_input(call, rows, out, draw_gap(call));
  const tinyattn_linear linear = draw_linear(call, kind, in, out);
  const kernel::Adapter<rank> adapter{call.input(in * rank), call.input(rank * out), call.random.one_of({0.5f, 1.0f, 3.0f})};
  const Result d_a = draw_result(call, in, rank), d_b = draw_result(call, rank, out), d_x = draw_result(call, rows, in, draw_gap(call));
  const Result result = draw_result(call, rows, out, draw_gap(call));
  const kernel::IntegerScratch integers{reinterpret_cast<std::int32_t*>(call.garbage(3 * kernel::integer_row(in))), 3};
  const auto both_passes = [&](const auto& base, const auto& scratch) {
    using Weight = kernel::AdaptedWeight<std::remove_cvref_t<decltype(base)>, rank>;
    const kernel::Projection<Weight> projection{{base, adapter}, linear.bias};
    const kernel::ProjectionGradient gradient{nullptr, nullptr, d_a.of_kernel.first, d_b.of_kernel.first};
    kernel::project<Port>(rows, in, out, x, projection, result.of_kernel, scratch);
    kernel::add_projection_gradient<Port>(rows, in, out, x, d_out, projection.weight, gradient);
    kernel::project_backward<Port>(rows, in, out, d_out, projection.weight, d_x.of_kernel);
  };
  by_kernel(call, [&] {
    if constexpr (kind == Kind::f32)
      both_passes(linear.weight, kernel::NoScratch{});
    else
      both_passes(kernel::Int8Weights{linear.codes, linear.scales}, integers);
  });
  by_twin([&] {
    const plain::Matrix low(rows, rank), floats(in, out);
    const plain::Adapter plain_adapter{matrix(adapter.a, in, rank), matrix(adapter.b, rank, out), adapter.scale};
    const plain::Linear base = plainly(linear, in, out);
    base(x, result.of_twin);
    plain::project_to_rank(x, plain_adapter.a, adapter.scale, low);
    plain::add_from_rank(low, plain_adapter.b, result.of_twin);
    for (Size i = 0; i < in; ++i)
      for (Size o = 0; o < out; ++o)
        (*floats)(i, o) =
            kind == Kind::f32 ? base.weight(i, o) : plain::product(static_cast<float>(base.codes(o, i) - 128), base.scales[o]);
    plain::rows_backward(plain::Linear{floats}, plain_adapter, x, d_out, d_x.of_twin, d_a.of_twin, d_b.of_twin);
  });
  gives(call, result, d_a, d_b, d_x);
}
inline void adapters(Call& call) {
  using DrawCall = void (*)(Call&);
  call.random.one_of<DrawCall>({adapted_linear<1, Kind::f32>, adapted_linear<6, Kind::f32>, adapted_linear<4, Kind::int8>})(call);
}

inline void norm_gradients(Call& call) {
  const Size rows = call.random.size(40), dim = call.random.size();
  Rows x = draw_input(call, rows, dim, draw_gap(call), Numbers::special),
       d_out = draw_input(call, rows, dim, draw_gap(call), Numbers::special);
  const plain::Input plain_x = x, plain_d_out = d_out;
  const tinyattn_norm norm = draw_norm(call, dim);
  const Gradient gradient = draw_gradients(call, 1, dim, norm.bias != nullptr);
  const Result d_x = draw_wanted(call, rows, dim, draw_gap(call));
  draw_place(call, d_x, x, &d_out);
  float* const row = call.garbage(dim);
  by_kernel(call, [&] {
    for (Size i = 0; i < rows; ++i)
      kernel::norm_backward<Port>(described(norm, dim), gradient, x.from(i).first, d_out.from(i).first, d_x.of_kernel.from(i).first, row);
  });
  by_twin([&] { plain::rows_backward(plainly(norm), plain_x, plain_d_out, d_x.of_twin, gradient.of_twin()); });
  gives(call, gradient, d_x);
}

inline void activation_gradients(Call& call) {
  const Size count = call.random.size(70);
  const Activation activation = call.activation();
  const float spread = call.random.one_of({1.0f, 4.0f, 12.0f});
  Rows x = draw_input(call, 1, count, 0, Numbers::special), d_out = draw_input(call, 1, count, 0, Numbers::special);
  for (Size j = 0; j < count; ++j) x.first[j] *= spread;
  const plain::Input plain_x = x, plain_d_out = d_out;
  const Result d_x = draw_result(call, 1, count);
  draw_place(call, d_x, x, &d_out);
  by_kernel(call, [&] { kernel::activation_backward_row<Port>(activation, x.first, d_out.first, d_x.of_kernel.first, count); });
  by_twin([&] {
    plain::combine(plain_x, plain_d_out, d_x.of_twin, [&](float at, float d) { return plain::product(plain::slope(activation, at), d); });
  });
  gives(call, d_x);
}

// A few rows at a time, as many as the scratch has room for.
inline void feed_forward_gradients(Call& call) {
  Random& random = call.random;
  const Size rows = random.size(40), d_model = random.size(40), d_hidden = random.size(40), most = 1 + random.below(rows);
  const bool is_gated = random.one_in(2);
  const Activation activation = call.activation();
  Rows x = draw_input(call, rows, d_model, draw_gap(call)), d_out = draw_input(call, rows, d_model, draw_gap(call));
  const plain::Input plain_x = x, plain_d_out = d_out;
  const tinyattn_linear up = draw_linear(call, Kind::f32, d_model, d_hidden), down = draw_linear(call, Kind::f32, d_hidden, d_model);
  const tinyattn_linear gate = is_gated ? draw_linear(call, Kind::f32, d_model, d_hidden) : tinyattn_linear{};
  const Gradient of_up = draw_gradients(call, d_model, d_hidden), of_down = draw_gradients(call, d_hidden, d_model);
  const Gradient of_gate = is_gated ? draw_gradients(call, d_model, d_hidden) : Gradient{};
  const Result d_x = draw_wanted(call, rows, d_model, draw_gap(call));
  draw_place(call, d_x, x, &d_out);
  float* const scratch = call.garbage(kernel::hidden_backward_scratch(most, d_hidden, is_gated));
  by_kernel(call, [&] {
    const kernel::FeedForward<> layer{d_model, d_hidden, activation, projection(up), projection(gate), projection(down)};
    for (Size i = 0; i < rows; i += most)
      kernel::feed_forward_backward<Port>(layer, {of_up, of_gate, of_down}, std::min(most, rows - i), x.from(i), d_out.from(i),
                                          d_x.of_kernel.from(i), scratch, kernel::NoScratch{});
  });
  by_twin([&] {
    const plain::Hidden layer{plainly(up, d_model, d_hidden), plainly(gate, d_model, d_hidden), plainly(down, d_hidden, d_model),
                              activation};
    plain::rows_backward(layer, plain_x, plain_d_out, d_x.of_twin, {of_up.of_twin(), of_gate.of_twin(), of_down.of_twin()});
  });
  gives(call, of_up, of_gate, of_down, d_x);
}

inline void convolution_gradients(Call& call) {
  Random& random = call.random;
  kernel::Convolution c{0, random.size(8), random.size(40), 1 + random.below(9), 1 + random.below(4), 0};
  c.padding = random.below(c.kernel);
  c.tokens = std::max<Size>(1, c.kernel - std::min(c.kernel, 2 * c.padding)) + random.below(30);
  const Size width = c.kernel * c.in;
  Rows x = draw_input(call, c.tokens, c.in);
  const plain::Input plain_x = x;
  const Rows d_out = draw_input(call, c.rows(), c.out, draw_gap(call));
  const plain::Linear linear{matrix(call.input(width * c.out), width, c.out)};
  const Gradient gradient = draw_gradients(call, width, c.out);
  const Result d_x = draw_result(call, c.tokens, c.in);
  draw_place(call, d_x, x);
  by_kernel(call, [&] {
    kernel::add_convolution_gradient<Port>(c, x.first, d_out, gradient);
    kernel::convolve_backward<Port>(c, d_out, linear.weight.first, d_x.of_kernel.first);
  });
  by_twin([&] { plain::rows_backward({linear, c.kernel, c.stride, c.padding}, plain_x, d_out, d_x.of_twin, gradient.of_twin()); });
  gives(call, gradient, d_x);
}

// Tokens that occur several times, at positions from any first one on.
inline void embedding_gradients(Call& call) {
  Random& random = call.random;
  const Size count = random.size(40), vocabulary = random.size(20), dim = random.size(), position = random.below(5);
  const auto* const tokens = call.elements<Token>(count, [&] { return random.below(vocabulary); });
  const Rows d_out = draw_input(call, count, dim, draw_gap(call), Numbers::special);
  const Result table = draw_wanted(call, vocabulary, dim), positions = draw_wanted(call, position + count, dim);
  by_kernel(call, [&] { kernel::embed_backward<Port>(table.of_kernel, positions.of_kernel, tokens, count, position, d_out); });
  by_twin([&] {
    plain::add_embedded(tokens, d_out, table.of_twin);
    const Rows of_text = positions.of_twin.from(position);
    plain::add(of_text, d_out, of_text);
  });
  gives(call, table, positions);
}

// Softmax; all weights of a row may be 0.
inline void softmax_gradients(Call& call) {
  Random& random = call.random;
  const Size rows = random.size(8), cols = random.size();
  const float scale = random.one_of({0.0f, 0.35f, 1.0f, 3.0f});
  Rows x = draw_input(call, rows, cols, draw_gap(call), Numbers::special);
  Rows d_out = draw_input(call, rows, cols, draw_gap(call), Numbers::special);
  if (random.one_in(4)) std::fill_n(x.first, cols, 0.0f);
  const plain::Input plain_x = x, plain_d_out = d_out;
  const Result d_x = draw_result(call, rows, cols, draw_gap(call));
  draw_place(call, d_x, x, &d_out);
  by_kernel(call, [&] {
    for (Size i = 0; i < rows; ++i)
      kernel::softmax_backward_row<Port>(x.from(i).first, d_out.from(i).first, d_x.of_kernel.from(i).first, cols, scale);
  });
  by_twin([&] { plain::softmax_backward(plain_x, scale, plain_d_out, d_x.of_twin); });
  gives(call, d_x);
}

// Mean and largest over tokens, with ties; and standardize.
inline void pooling_gradients(Call& call) {
  const Size tokens = call.random.size(40), features = call.random.size();
  Rows x = draw_input(call, tokens, features, draw_gap(call));
  for (Size i = 1; i < tokens; ++i)
    if (call.random.one_in(4)) std::copy_n(x.first, features, x.from(i).first);
  const plain::Input plain_x = x;
  const Rows d_out = draw_input(call, 1, features, 0, Numbers::special),
             d_all = draw_input(call, tokens, features, draw_gap(call), Numbers::special);
  const Rows deviation = draw_input(call, 1, features);
  const Result of_mean = draw_result(call, tokens, features, draw_gap(call)), of_all = draw_result(call, tokens, features, draw_gap(call));
  const Result of_largest = draw_result(call, tokens, features, draw_gap(call));
  draw_place(call, of_largest, x);
  by_kernel(call, [&] {
    kernel::mean_backward<Port>(tokens, features, d_out.first, of_mean.of_kernel);
    kernel::maximum_backward<Port>(tokens, features, x, d_out.first, of_largest.of_kernel);
    for (Size i = 0; i < tokens; ++i)
      kernel::multiply_elements<Port>(d_all.from(i).first, deviation.first, of_all.of_kernel.from(i).first, features);
  });
  by_twin([&] {
    plain::mean_backward(d_out, of_mean.of_twin);
    plain::largest_backward(plain_x, d_out, of_largest.of_twin);
    plain::combine(d_all, plain::Input{deviation.first, tokens, features, 0}, of_all.of_twin, plain::product);
  });
  gives(call, of_mean, of_largest, of_all);
}

}  // namespace tinyattn::test
