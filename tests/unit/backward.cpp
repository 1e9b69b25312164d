// SPDX-License-Identifier: MIT
//
// Backward passes: as in plain loops, as finite differences, and what holds for each: a gradient that is not wanted changes no other,
// a batch is an accumulation, a gradient may replace what it was computed from. golden/gradients.cpp has PyTorch's.
#include "catalogue/workloads.hpp"
#include "checks_of_gradients.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

// A function: GCC 12 dies of a variable template here.
constexpr FeedForwardConfig hidden(Activation activation, bool gated) {
  return {.d_model = 5, .d_hidden = 7, .activation = activation, .gated = gated, .bias = !gated};
}

// --- As in plain loops ---

constexpr void each_activation_as_in_loops(Check& check) {
  for_each_activation([&]<Activation activation>(const char*) {
    as_in_loops<ActivationGradient<activation, Matrix<float, 2, 33>>, FeedForwardGradient<hidden(activation, false), 3>,
                FeedForwardGradient<hidden(activation, true), 3>>(check);
  });
}

// --- What holds for each ---

template <Activation activation>
constexpr void check_activation(Check& check) {
  const auto numbers = opaque(vector({infinity, -infinity, -0.0f, 0.0f, largest_float, -largest_float, 100.0f, -100.0f, 0x1p-100f}));
  const auto twos = full<float, 9>(2.0f);
  Vector<float, 9> d_x;
  activation_gradient<activation>(Library{}, numbers, twos, d_x);
  const float at_0 = activation == Activation::relu ? 0.0f : 1.0f, above_0 = activation == Activation::relu ? 2.0f : 1.0f;
  check.equal(d_x, vector({2.0f, 0.0f, at_0, at_0, 2.0f, 0.0f, 2.0f, 0.0f, above_0}));
  auto both = numbers;
  activation_gradient<activation>(Library{}, both, twos, both);
  check.equal(both, d_x);
  both = twos;
  activation_gradient<activation>(Library{}, numbers, both, both);
  check.equal(both, d_x);
}

// Rows of views, next to which nothing is written.
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

// Rows from the number of tokens on may hold NaN, and their gradients are not touched.
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

// A scale that counts as none, as softmax takes it, and none at all; gradients in the place of weights and of d_out.
constexpr void check_softmax(Check& check) {
  const auto weights = softmax(drawn<Matrix<float, 2, 19>>(1)), d_out = drawn<Matrix<float, 2, 19>>(2);
  Matrix<float, 2, 19> d_x, same;
  softmax_backward(opaque(weights), 0x1p-127f, d_out, d_x);
  check.equal(d_x, full<float, 2, 19>(0.0f));
  softmax_backward(opaque(weights), d_out, d_x);
  softmax_backward(opaque(weights), 1.0f, d_out, same);
  check.same_bits(d_x, same);
  same = weights;
  softmax_backward(same, d_out, same);
  check.same_bits(d_x, same);
  same = d_out;
  softmax_backward(weights, same, same);
  check.same_bits(d_x, same);
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

// Numbers next to tensors, which have no gradient; gradients that are not wanted; a_gradient in the place of a and of d_out.
constexpr void check_arithmetic(Check& check) {
  const auto a = opaque(matrix<float>({{1.0f, 2.0f}, {3.0f, 4.0f}})), d_out = matrix<float>({{10.0f, 20.0f}, {30.0f, 40.0f}});
  const auto row = vector<float>({5.0f, 6.0f});
  Matrix<float, 2, 2> d;
  Vector<float, 2> d_row;
  add_backward(1, a, d_out, no_gradient, d);
  check.equal(d, d_out);
  subtract_backward(1, a, d_out, no_gradient, d);
  check.equal(d, matrix<float>({{-10.0f, -20.0f}, {-30.0f, -40.0f}}));
  multiply_backward(a, 0.5, d_out, d, no_gradient);
  check.equal(d, matrix<float>({{5.0f, 10.0f}, {15.0f, 20.0f}}));
  subtract_backward(a, row, d_out, no_gradient, d_row);
  check.equal(d_row, vector({-40.0f, -60.0f}));
  multiply_backward(row, a, d_out, d_row, no_gradient);
  check.equal(d_row, vector({100.0f, 200.0f}));
  d = a;
  multiply_backward(d, row, d_out, d, d_row);
  check.equal(d, matrix<float>({{50.0f, 120.0f}, {150.0f, 240.0f}}));
  check.equal(d_row, vector({100.0f, 200.0f}));
  d = d_out;
  subtract_backward(a, row, d, d, d_row);
  check.equal(d, d_out);
  check.equal(d_row, vector({-40.0f, -60.0f}));
  Vector<float, 2> d_u;
  dot_backward(row, vector({7.0f, 8.0f}), 2.0f, d_u, no_gradient);
  check.equal(d_u, vector({14.0f, 16.0f}));
  dot_backward(row, vector({7.0f, 8.0f}), 2.0f, no_gradient, d_u);
  check.equal(d_u, vector({10.0f, 12.0f}));
}

// A row whose sum is 0 has no gradient; gradients in the place of m and of d_out.
constexpr void check_normalize(Check& check) {
  const auto m = opaque(matrix<float>({{1.0f, 3.0f}, {2.0f, -2.0f}})), d_out = matrix<float>({{4.0f, 8.0f}, {1.0f, 2.0f}});
  const auto expected = matrix<float>({{-0.75f, 0.25f}, {0.0f, 0.0f}});
  auto d_m = m;
  normalize_backward(d_m, d_out, d_m);
  check.equal(d_m, expected);
  d_m = d_out;
  normalize_backward(m, d_m, d_m);
  check.equal(d_m, expected);
}

constexpr Test tests[] = {
    everywhere("small modules, as in plain loops",
               as_in_loops<LinearGradient<5, 7, true, 2, 3>, NormGradient<LayerNorm<17>, 2, 17>, NormGradient<RmsNorm<5>, 3, 5>,
                           FeedForwardGradient<hidden(Activation::silu, true), 2>, EmbeddingGradient<5>,
                           ConvolutionGradient<overlapping, 6>, ConvolutionGradient<padded, 1>>),
    everywhere("small functions, as in plain loops",
               as_in_loops<MatmulGradient<Tensor<float, 2, 3, 4>, Tensor<float, 2, 3, 5>, Matrix<float, 5, 4>>,
                           MatmulTransposedGradient<Matrix<float, 3, 4>, Matrix<float, 3, 5>, Matrix<float, 4, 5>>,
                           SoftmaxGradient<Matrix<float, 2, 17>>, ActivationGradient<Activation::gelu, Vector<float, 5>>,
                           MeanGradient<5, 7, 2>, LargestGradient<5, 7, 2>, StandardizeGradient<3, 7>>),
    at_run_time("Linear, as in plain loops", as_in_loops<LinearGradient<17, 33, false, 5>, LinearGradient<1, 1, true, 1>>),
    at_run_time("norms, as in plain loops", as_in_loops<NormGradient<LayerNorm<1>, 1, 1>, NormGradient<LayerNorm<48>, 2, 3, 48>,
                                                        NormGradient<RmsNorm<16>, 3, 16>, NormGradient<RmsNorm<33>, 2, 33>>),
    at_run_time("activations and feed-forward, as in plain loops", each_activation_as_in_loops),
    at_run_time(
        "feed-forward of many rows, as in plain loops",
        as_in_loops<FeedForwardGradient<gelu_part, 15>, FeedForwardGradient<gelu_part, 17>, FeedForwardGradient<gated_part, 2, 49>>),
    at_run_time("Conv1d, as in plain loops", as_in_loops<ConvolutionGradient<overlapping, 9>, ConvolutionGradient<padded, 6, 2>,
                                                         ConvolutionGradient<patches, 17>, ConvolutionGradient<apart, 11, 2>>),
    at_run_time("products, as in plain loops",
                as_in_loops<MatmulGradient<Tensor<float, 2, 3, 17>, Tensor<float, 2, 3, 5>, Tensor<float, 2, 5, 17>>,
                            MatmulGradient<Vector<float, 3>, Vector<float, 5>, Matrix<float, 5, 3>>,
                            MatmulTransposedGradient<Tensor<float, 2, 3, 17>, Tensor<float, 2, 3, 5>, Matrix<float, 17, 5>>,
                            MatmulTransposedGradient<Tensor<float, 2, 3, 4>, Tensor<float, 2, 3, 17>, Tensor<float, 2, 4, 17>>>),
    everywhere(
        "arithmetic, as in plain loops",
        as_in_loops<AddGradient<Matrix<float, 3, 5>, Matrix<float, 3, 5>>, AddGradient<Vector<float, 5>, Tensor<float, 2, 2, 5>>,
                    SubtractGradient<Matrix<float, 3, 5>, Matrix<float, 3, 5>>, SubtractGradient<Vector<float, 5>, Matrix<float, 3, 5>>,
                    SubtractGradient<Matrix<float, 3, 17>, Matrix<float, 1, 17>>,
                    MultiplyGradient<Matrix<float, 3, 5>, Matrix<float, 3, 5>>,
                    MultiplyGradient<Tensor<float, 2, 2, 17>, Vector<float, 17>>, DotGradient<1>, DotGradient<17>>),
    at_run_time("relatives of softmax, as in plain loops",
                as_in_loops<SoftmaxNaiveGradient<Matrix<float, 2, 17>>, NormalizeGradient<Vector<float, 1>>,
                            NormalizeGradient<Matrix<float, 3, 7>>, NormalizeGradient<Matrix<float, 2, 49>>>),
    at_run_time("softmax and what is over tokens, as in plain loops",
                as_in_loops<SoftmaxGradient<Vector<float, 1>>, SoftmaxGradient<Tensor<float, 2, 3, 7>>,
                            SoftmaxGradient<Matrix<float, 2, 49>>, MeanGradient<1, 1>, MeanGradient<5, 17, 2>, LargestGradient<1, 1>,
                            LargestGradient<5, 17, 2>, StandardizeGradient<2, 33>>),
    at_run_time(
        "modules, as differences of forward passes",
        as_differences<LinearGradient<5, 3, true, 2, 2>, NormGradient<LayerNorm<5>, 2, 5>, NormGradient<RmsNorm<5>, 2, 5>,
                       FeedForwardGradient<hidden(Activation::gelu, false), 2>, FeedForwardGradient<hidden(Activation::silu, true), 2>,
                       FeedForwardGradient<hidden(Activation::gelu_tanh, false), 2>, EmbeddingGradient<3>, ConvolutionGradient<padded, 6>,
                       ConvolutionGradient<apart, 11>>),
    at_run_time(
        "functions, as differences of forward passes",
        as_differences<MatmulGradient<Matrix<float, 2, 3>, Matrix<float, 2, 4>, Matrix<float, 4, 3>>,
                       MatmulTransposedGradient<Matrix<float, 2, 3>, Matrix<float, 2, 4>, Matrix<float, 3, 4>>,
                       SoftmaxGradient<Matrix<float, 2, 7>>, ActivationGradient<Activation::gelu, Vector<float, 9>>,
                       ActivationGradient<Activation::gelu_tanh, Vector<float, 9>>, ActivationGradient<Activation::silu, Vector<float, 9>>,
                       ActivationGradient<Activation::relu, Vector<float, 9>>, MeanGradient<3, 4>, LargestGradient<3, 4>,
                       StandardizeGradient<2, 5>>),
    everywhere("a gradient that is not wanted changes no other; a batch is its elements one after the other; in place",
               [](Check& check) {
                 check_module<Linear<5, 7>, Matrix<float, 3, 5>, Matrix<float, 3, 7>>(check);
                 check_module<LayerNorm<17>, Matrix<float, 2, 17>>(check);
                 check_module<RmsNorm<5>, Matrix<float, 3, 5>>(check);
                 check_module<FeedForward<gelu_part>, Matrix<float, 2, 12>>(check);
                 check_module<FeedForward<gated_part>, Matrix<float, 2, 12>>(check);
                 check_module<Conv1d<padded>, Matrix<float, 6, 2>, Matrix<float, 4, 17>>(check);
               }),
    at_run_time(
        "activations of zeros, of infinities and of large numbers",
        [](Check& check) { for_each_activation([&]<Activation activation>(const char*) { check_activation<activation>(check); }); }),
    everywhere("rows of views, and nothing next to them", check_views),
    everywhere("an embedding adds nothing for tokens that it does not know", check_tokens),
    at_run_time("a number of tokens: rows after them leave no trace", check_counts),
    everywhere("equal maxima: the first gets the gradient", check_ties),
    everywhere("softmax: scales, and in place", check_softmax),
    everywhere("products: only the gradients that are wanted", check_products),
    everywhere("arithmetic: numbers, gradients that are not wanted, and in place", check_arithmetic),
    everywhere("normalize: a sum of 0, and in place", check_normalize),
};

}  // namespace

int main() { return run(tests); }
