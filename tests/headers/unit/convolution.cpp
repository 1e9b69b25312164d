// SPDX-License-Identifier: MIT
//
// The convolution: sizes, PyTorch's layout, padding, the order in which initialize draws. It is a Linear over windows of tokens.
#include "tinyattn/convolution.hpp"

#include "forms.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr Conv1dConfig config = {.in = 2, .out = 3, .kernel = 3, .stride = 2, .padding = 1};
constexpr Conv1dConfig without_bias = {.in = 2, .out = 3, .kernel = 3, .stride = 2, .padding = 1, .bias = false};
constexpr Conv1dConfig in_int8 = {.in = 2, .out = 3, .kernel = 3, .stride = 2, .padding = 1, .weights = Weights::int8};
using Layer = Conv1d<config>;

static_assert(Layer::parameter_count == 21 && sizeof(Layer) == 21 * sizeof(float) && Layer::parameter_bytes == sizeof(Layer));
static_assert(sizeof(Conv1d<without_bias>) == 18 * sizeof(float) && Conv1d<in_int8>::parameter_bytes == 3 * 16 + 3 * 4 + 3 * 4);
static_assert(std::is_aggregate_v<Layer> && std::is_trivially_copyable_v<Layer>);

// Output lengths as torch.nn.Conv1d has them.
static_assert(Layer::tokens_after(5) == 3 && Layer::tokens_after(6) == 3 && Layer::tokens_after(1) == 1 && Layer::tokens_after(0) == 0);
static_assert(Conv1d<Conv1dConfig{.in = 1, .out = 1, .kernel = 4, .stride = 3}>::tokens_after(10) == 3);

// Temporaries as layers: in a constant expression the compiler compares the bias's address with null.
constexpr Tensor<float, 1, 1, 2> difference{{-1.0f, 1.0f}};
constexpr Conv1dConfig of_difference = {.in = 1, .out = 1, .kernel = 2};
static_assert(from_torch<of_difference>(difference, vector<float>({0.5f}))(matrix<float>({{1.0f}, {4.0f}, {2.0f}})) ==
              matrix<float>({{3.5f}, {-1.5f}}));

// im2col: each row is one position of a kernel of three tokens, stride 2, padding 1. A convolution is a Linear of these rows.
constexpr Matrix<float, 3, 6> unfolded(const Matrix<float, 5, 2>& x) {
  Matrix<float, 3, 6> rows{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      if (const std::size_t token = 2 * i + j / 2; token >= 1 && token <= 5) rows(i, j) = x(token - 1, j % 2);
  return rows;
}

constexpr void check_drawn(Check& check, auto layer) {
  Mt19937 generator(opaque(5u)), same(5);
  initialize(layer, generator);
  const float bound = 0.4082482904638630163662140f;  // 1 / sqrt(6)
  for (std::size_t o = 0; o < 3; ++o)
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t k = 0; k < 3; ++k) check.same_bits(layer.weight(2 * k + c, o), uniform(same, -bound, bound));
  if constexpr (requires { layer.bias(0); })
    for (const float element : layer.bias.elements) check.same_bits(element, uniform(same, -bound, bound));
}

constexpr Conv1dConfig long_kernel = {.in = 3, .out = 5, .kernel = 4, .stride = 1, .padding = 2};
constexpr Conv1dConfig long_stride = {.in = 1, .out = 9, .kernel = 3, .stride = 5};

// An input view has no gaps; an output view may have.
template <Conv1dConfig config, std::size_t Tokens>
constexpr void check_convolution(Check& check) {
  const auto layer = drawn<Conv1d<config>>(1);
  const auto x = drawn<Matrix<float, Tokens, config.in>>(2);
  const auto expected = layer(opaque(x));
  check_output(check, expected, [&](auto& out) { layer.forward(x, out); });
  check_output(check, stack(expected, expected), [&](auto& out) { layer.forward(stack(x, x), out); });
  check_output(check, widened(expected, 1), [&](auto& wide) {
    auto out = columns<config.out>(wide, 1);
    layer.forward(MatrixView<const float, Tokens, config.in, config.in>{x.data()}, out);
  });
}

constexpr Test tests[] = {
    everywhere("in each form",
               [](Check& check) {
                 check_convolution<config, 5>(check);
                 check_convolution<without_bias, 2>(check);
                 check_convolution<in_int8, 5>(check);
                 check_convolution<long_kernel, 1>(check);
                 check_convolution<long_stride, 14>(check);
               }),
    everywhere("from_torch takes a weight as [out, in, kernel]",
               [](Check& check) {
                 const auto weight = drawn<Tensor<float, 3, 2, 3>>(1);
                 const auto bias = drawn<Vector<float, 3>>(2);
                 const auto layer = from_torch<config>(opaque(weight), bias);
                 for (std::size_t o = 0; o < 3; ++o)
                   for (std::size_t c = 0; c < 2; ++c)
                     for (std::size_t k = 0; k < 3; ++k) check.same_bits(layer.weight(2 * k + c, o), weight(o, c, k));
                 check.same_bits(layer.bias, bias);
                 check.that(layer == from_torch<config>(weight, bias));
                 check.that(layer != from_torch<config>(weight, vector<float>({1.0f, 2.0f, 3.0f})));
                 check.same_bits(from_torch<without_bias>(opaque(weight)).weight, layer.weight);
               }),
    everywhere("as a Linear of rows with zeros, also with int8 weights",
               [](Check& check) {
                 const auto x = drawn<Matrix<float, 5, 2>>(3);
                 const auto layer = drawn<Layer>(4);
                 const Linear<6, 3> linear{layer.weight, layer.bias};
                 check.same_bits(layer(opaque(x)), linear(unfolded(x)));
                 check.that(quantize(opaque(layer)).weight == quantize(linear).weight);
                 check.same_bits(quantize(layer)(opaque(x)), quantize(linear)(unfolded(x)));
               }),
    at_run_time("what the kernel has outside of x is not read: a NaN there does not leak",
                [](Check& check) {
                  auto layer = drawn<Layer>(4);
                  for (std::size_t k = 0; k < 2; ++k) layer.weight(k, 0) = quiet_nan;
                  const auto out = layer(opaque(drawn<Matrix<float, 5, 2>>(3)));
                  check.that(out(0, 0) == out(0, 0) && out(1, 0) != out(1, 0));
                }),
    everywhere("the weight is drawn before its bias, in the order of PyTorch's layout",
               [](Check& check) {
                 check_drawn(check, Layer{});
                 check_drawn(check, Conv1d<without_bias>{});
               }),
    everywhere("parameters have PyTorch's names",
               [](Check& check) {
                 std::size_t count = 0;
                 const auto layer = drawn<Layer>(1);
                 for_each_parameter(layer, [&](const char* name, const auto& parameter) {
                   check.that(name[0] == (count == 0 ? 'w' : 'b'));
                   count += parameter.size();
                 });
                 check.equal(count, Layer::parameter_count);
               }),
};

}  // namespace

int main() { return run(tests); }
