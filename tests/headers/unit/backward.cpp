// SPDX-License-Identifier: MIT
//
// Forms of backward passes: an unwanted gradient changes no other, a batch accumulates, a gradient may overwrite what it is computed from.
// golden/gradients.cpp compares with PyTorch, and answers/ with plain loops.
#include "catalogue/workloads.hpp"
#include "checks_of_gradients.hpp"

namespace tinyattn::test { namespace {

// Where the projection that the gate multiplies is 0, the gate gets no gradient, but the projection does.
constexpr void check_gate(Check& check) {
  using Layer = FeedForward<gated_part>;
  auto layer = drawn<Layer>(1);
  Layer gradient{};
  layer.up = {};
  FeedForwardGradient<gated_part, 2>::backward(layer, drawn<Matrix<float, 2, 12>>(2), drawn<Matrix<float, 2, 12>>(3), no_gradient,
                                               gradient);
  check.that(gradient.gate == decltype(gradient.gate){} && gradient.up != decltype(gradient.up){});
}

// Rows of views; nothing between them is written.
constexpr void check_views(Check& check) {
  const auto wide = drawn<Matrix<float, 3, 12>>(1), wide_d = drawn<Matrix<float, 3, 12>>(2);
  const auto x = columns<5>(wide, 4), d_out = columns<5>(wide_d, 1);
  const auto dense_x = multiply(x, 1.0f), dense_d = multiply(d_out, 1.0f);
  const auto norm = drawn<LayerNorm<5>>(3);
  LayerNorm<5> gradient{}, of_dense{};
  Matrix<float, 3, 5> d_x;
  backward(norm, dense_x, dense_d, d_x, of_dense);
  Guarded<Matrix<float, 3, 9>> out;
  auto view = columns<5>(out.tensor, 2);
  backward(norm, x, d_out, view, gradient);
  check.that(gradient == of_dense);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 9; ++j)
      check.same_bits(out.tensor(i, j), j < 2 || j > 6 ? Guarded<Vector<float, 1>>::untouched : d_x(i, j - 2));
}

// --- What takes no part ---

constexpr void check_tokens(Check& check) {
  const auto embedding = drawn<Embedding<3, 4>>(1), before = drawn<Embedding<3, 4>>(2);
  const auto d_out = drawn<Matrix<float, 2, 4>>(3);
  auto gradient = before;
  backward(embedding, vector<Token>({2, 3}), d_out, no_gradient, gradient);
  check.that(gradient == before);
  auto same = before;
  backward(embedding, vector<Token>({2, 0}), d_out, gradient);
  backward(embedding, vector<Token>({2, 0}), d_out, no_gradient, same);
  check.that(gradient == same && gradient != before);
  backward(embedding, vector<Token>({2, 0}), d_out, no_gradient);
}

// Rows after the count of tokens may hold NaN, and their gradients are not touched.
void check_counts(Check& check) {
  const auto few = drawn<Matrix<float, 3, 5>>(1);
  const auto d_out = drawn<Vector<float, 5>>(2);
  auto x = full<float, 5, 5>(quiet_nan);
  for (std::size_t i = 0; i < few.size(); ++i) x.elements[i] = few.elements[i];
  const auto check_one = [&](auto reduce_backward) {
    Matrix<float, 3, 5> expected;
    reduce_backward(few, d_out, expected);
    auto d_x = full<float, 5, 5>(7.0f);
    check.that(reduce_backward(x, std::size_t{0}, d_out, d_x) == Status::no_tokens);
    check.that(reduce_backward(x, std::size_t{6}, d_out, d_x) == Status::too_many_tokens);
    check.equal(d_x, full<float, 5, 5>(7.0f));
    check.that(reduce_backward(opaque(x), std::size_t{3}, d_out, d_x) == Status::ok);
    for (std::size_t i = 0; i < d_x.size(); ++i) check.same_bits(d_x.elements[i], i < 15 ? expected.elements[i] : 7.0f);
  };
  check_one([](auto&&... args) { return mean_backward(args...); });
  check_one([](auto&&... args) { return largest_backward(args...); });
}

constexpr void check_ties(Check& check) {
  Matrix<float, 3, 4> x{{1.0f, 2.0f, -0.0f, 3.0f, 1.0f, 2.0f, 0.0f, 5.0f, 0.5f, 2.0f, 0.0f, 4.0f}};
  largest_backward(x, vector({1.0f, 2.0f, 3.0f, 4.0f}), x);
  check.equal(x, Matrix<float, 3, 4>{{1.0f, 2.0f, 3.0f, 0.0f, 0.0f, 0.0f, 0.0f, 4.0f}});
}

// Softmax with a scale so small that it counts as 0, and with no scale.
constexpr void check_softmax(Check& check) {
  const auto weights = softmax(drawn<Matrix<float, 2, 19>>(1)), d_out = drawn<Matrix<float, 2, 19>>(2);
  Matrix<float, 2, 19> d_x;
  softmax_backward(opaque(weights), 0x1p-127f, d_out, d_x);
  check.equal(d_x, full<float, 2, 19>(0.0f));
  softmax_backward(opaque(weights), 1.0f, d_out, d_x);
  check.same_bits(in_each_place(check, weights, d_out, [](const auto& w, const auto& d, auto& to) { softmax_backward(w, d, to); }), d_x);
}

constexpr void check_products(Check& check) {
  const auto a = drawn<Matrix<float, 4, 3>>(1);
  const auto b = drawn<Matrix<float, 3, 5>>(2);
  const auto d_out = drawn<Matrix<float, 4, 5>>(3);
  Matrix<float, 4, 3> d_a, same_a;
  Matrix<float, 3, 5> d_b, same_b;
  matmul_backward(opaque(a), b, d_out, d_a, d_b);
  matmul_backward(opaque(a), b, d_out, same_a, no_gradient);
  matmul_backward(opaque(a), b, d_out, no_gradient, same_b);
  check.same_bits(same_a, d_a);
  check.same_bits(same_b, d_b);
  const auto transposed = transpose(b);
  Matrix<float, 5, 3> d_transposed;
  matmul_transposed_backward(opaque(a), transposed, d_out, no_gradient, d_transposed);
  matmul_transposed_backward(opaque(a), transposed, d_out, same_a, no_gradient);
  check.same_bits(same_a, d_a);
  check.same_bits(transpose(d_transposed), d_b);
}

// Numbers as operands, which have no gradient; unwanted gradients; a's gradient in the place of a and of d_out.
constexpr void check_arithmetic(Check& check) {
  const auto a = opaque(matrix<float>({{1.0f, 2.0f}, {3.0f, 4.0f}})), d_out = matrix<float>({{10.0f, 20.0f}, {30.0f, 40.0f}});
  const auto row = vector<float>({5.0f, 6.0f});
  Matrix<float, 2, 2> d;
  Vector<float, 2> d_row;
  add_backward(1, a, d_out, no_gradient, d);
  check.equal(d, d_out);
  multiply_backward(a, 0.5, d_out, d, no_gradient);
  check.equal(d, matrix<float>({{5.0f, 10.0f}, {15.0f, 20.0f}}));
  multiply_backward(row, a, d_out, d_row, no_gradient);
  check.equal(d_row, vector({100.0f, 200.0f}));
  d = in_each_place(check, a, d_out, [&](const auto& from, const auto& d_from, auto& to) {
    add_backward(from, row, d_from, to, d_row);
    check.equal(d_row, vector({40.0f, 60.0f}));
  });
  check.equal(d, d_out);
  d = in_each_place(check, a, d_out, [&](const auto& from, const auto& d_from, auto& to) {
    multiply_backward(from, row, d_from, to, d_row);
    check.equal(d_row, vector({100.0f, 200.0f}));
  });
  check.equal(d, matrix<float>({{50.0f, 120.0f}, {150.0f, 240.0f}}));
}

constexpr Test tests[] = {
    everywhere("a gradient that is not wanted changes no other; a batch is its elements one after the other; in place",
               each_of<check_module<LinearGradient<5, 7, true, 3>, true>, check_module<NormGradient<LayerNorm<17>, 2, 17>, true>,
                       check_module<NormGradient<RmsNorm<5>, 3, 5>, true>, check_module<FeedForwardGradient<gelu_part, 2>, true>,
                       check_module<FeedForwardGradient<gated_part, 2>, true>, check_module<ConvolutionGradient<padded, 6>>>),
    at_run_time("the same of more rows than a feed-forward layer takes at a time",
                [](Check& check) { check_module<FeedForwardGradient<gated_part, 40>, true>(check); }),
    everywhere("a gate and what it multiplies have different gradients", check_gate),
    everywhere("rows of views, and nothing next to them", check_views),
    everywhere("an embedding adds nothing for tokens that it does not know", check_tokens),
    at_run_time("a number of tokens: rows after them leave no trace", check_counts),
    everywhere("equal maxima: the first gets the gradient", check_ties),
    everywhere("softmax: scales, and in place", check_softmax),
    everywhere("products: only the gradients that are wanted", check_products),
    everywhere("arithmetic: numbers, gradients that are not wanted, and in place", check_arithmetic),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
