// SPDX-License-Identifier: MIT
//
// The linear layer: sums in order that start at the bias, PyTorch's layout, the order in which initialize draws; and weights of int8.
#include "tinyattn/linear.hpp"
#include "tinyattn/matmul.hpp"

#include <type_traits>

#include "board.h"
#include "forms.hpp"

namespace tinyattn::test { namespace {

// An absent bias takes no space.
static_assert(sizeof(Linear<3, 2>) == (3 * 2 + 2) * sizeof(float));
static_assert(sizeof(Linear<3, 2, false>) == 3 * 2 * sizeof(float));
static_assert(sizeof(Linear<1, 1, false>) == sizeof(float));
static_assert(std::is_aggregate_v<Linear<3, 2>> && std::is_trivially_copyable_v<Linear<3, 2, false>>);

constexpr auto inputs = matrix<float>({{1.0f, 2.0f, 3.0f}, {-1.0f, 0.5f, 0.0f}});
constexpr auto weight_out_in = matrix<float>({{1.0f, 0.0f, -1.0f}, {2.0f, 4.0f, 0.5f}});
constexpr auto bias = vector<float>({10.0f, 20.0f});

// Temporaries as layers: in a constant expression the compiler compares the bias's address with null.
static_assert(from_torch(weight_out_in, vector<float>({1.0f, 2.0f}))(inputs) == matrix<float>({{-1.0f, 13.5f}, {0.0f, 2.0f}}));

// --- Weights of int8 ---

using Int8 = Linear<3, 2, true, Weights::int8>;
static_assert(Int8::parameter_count == 8 && Int8::parameter_bytes == 2 * 16 + 2 * 4 + 2 * 4 && sizeof(Int8) == Int8::parameter_bytes);
static_assert(sizeof(Linear<17, 1, false, Weights::int8>) == 32 + 4 && alignof(Int8Matrix<17, 1>) == 4 && Int8Matrix<17, 1>::size() == 17);
static_assert(Linear<3, 2>::parameter_bytes == sizeof(Linear<3, 2>) && std::is_aggregate_v<Int8> && std::is_trivially_copyable_v<Int8>);

// Bits of an input by length of a row: the longest rows with 14, 13, 12 and 8 bits, and one more.
static_assert(kernel::input_bits(1) == 14 && kernel::input_bits(1032) == 14 && kernel::input_bits(1033) == 13);
static_assert(kernel::input_bits(2064) == 13 && kernel::input_bits(2065) == 12 && kernel::input_bits(4129) == 12);
static_assert(kernel::input_bits(4130) == 11 && kernel::input_bits(66311) == 8 && kernel::input_bits(66312) == 7);

// Inputs and outputs as bits, computed outside of this project. The inputs quantize to 14 bits: 8192, -2458, 5734 times 2^-13; 8192, 0, -1
// times 2^-12; 16383, 819, 1638 times 2^-13; zeros; and 10000, -3500, 0 times 2.
struct Known {
  std::uint32_t x[3], y[2];
};
constexpr Known known[] = {{{0x3f800000, 0xbe99999a, 0x3f333333}, {0x4015d89a, 0xbe9959f4}},
                           {{0x3ffffe00, 0x39000000, 0xb9400000}, {0x4067f2a5, 0xbee42547}},
                           {{0x3ffffd00, 0x3dcccccd, 0x3e4ccccd}, {0x4063afcf, 0xbedcff31}},
                           {{0x1f0dabc6, 0x1e3ce508, 0}, {0x3f000000, 0xbe800000}},
                           {{0x469c4000, 0xc5dac000, 0x3f800000}, {0x470f90e6, 0xc4f52e14}}};

// The layer of the known answers: codes are weights + 128, padded with 128.
constexpr Int8 known_layer = [] {
  constexpr int weights[2][3] = {{127, -64, 5}, {-127, 1, 90}};
  Int8 layer{{{}, {0.0123f, 0.00077f}}, vector<float>({0.5f, -0.25f})};
  for (std::size_t k = 0; k < 32; ++k) layer.weight.code[k] = static_cast<std::uint8_t>(128 + (k % 16 < 3 ? weights[k / 16][k % 16] : 0));
  return layer;
}();

// Checks the scale and the integers that quantize makes of a column of weights.
constexpr void check_quantized(Check& check, const Vector<float, 4>& weights, float scale, const int (&expected)[4]) {
  Linear<4, 2> linear{};
  for (std::size_t k = 0; k < 4; ++k) linear.weight(k, 1) = weights(k);
  linear.bias = vector<float>({7.0f, 8.0f});
  const auto layer = quantize(opaque(linear));
  check.same_bits(layer.bias, linear.bias);
  check.same_bits(vector<float>({layer.weight.scale[0], layer.weight.scale[1]}), vector<float>({1.0f, scale}));
  for (std::size_t k = 0; k < 32; ++k) check.equal(layer.weight.code[k] - 128, k / 16 == 1 && k % 16 < 4 ? expected[k % 16] : 0);
}

// Checks that initialize draws the weights in PyTorch's order and then the biases, uniform within the bound; golden/tables.cpp compares
// with PyTorch's numbers.
template <std::size_t In, std::size_t Out, bool Bias>
constexpr void check_drawn(Check& check, float bound) {
  Mt19937 generator(opaque(5u));
  Mt19937 same(5);
  Linear<In, Out, Bias> layer{};
  initialize(layer, generator);
  for (std::size_t out = 0; out < Out; ++out)
    for (std::size_t in = 0; in < In; ++in) check.same_bits(layer.weight(in, out), uniform(same, -bound, bound));
  if constexpr (Bias)
    for (std::size_t out = 0; out < Out; ++out) check.same_bits(layer.bias(out), uniform(same, -bound, bound));
}

// The instructions of a call; 0 on boards that cannot count them.
unsigned long long instructions_of(const auto& call) {
  const auto begin = board_ticks();
  call();
  return board_instructions(board_ticks() - begin);
}

constexpr Test tests[] = {
    everywhere("in each form: a sequential sum that starts at the bias",
               [](Check& check) {
                 const auto x = drawn<Matrix<float, 2, 7>>(1);
                 const auto layer = drawn<Linear<7, 9>>(2);
                 check_row_forms(check, x, call(layer));
                 check_row_forms(check, x, call(drawn<Linear<7, 9, false>>(2)));
                 for (std::size_t j = 0; j < 9; ++j) {
                   float sum = layer.bias(j);
                   for (std::size_t k = 0; k < 7; ++k) sum = fma(x(1, k), layer.weight(k, j), sum);
                   check.same_bits(layer(opaque(x))(1, j), sum);
                 }
               }),
    at_run_time("one row takes the instructions of a product of one row",
                [](Check& check) {
                  static const auto layer = drawn<Linear<64, 64>>(1);
                  const auto x = drawn<Vector<float, 64>>(2);
                  Vector<float, 64> out{};
                  const auto of_layer = instructions_of([&] { layer.forward(x, out); });
                  const auto of_product = instructions_of([&] { matmul(x, layer.weight, out); });
                  check.that(of_layer <= of_product + of_product / 10);
                  check.that(of_layer != 0 || board_ticks() == 0);  // both are 0 on boards that do not count
                }),
    everywhere("weights of int8, in each form",
               [](Check& check) {
                 check_row_forms(check, drawn<Matrix<float, 2, 7>>(1), call(drawn<Linear<7, 9, true, Weights::int8>>(2)));
                 check_row_forms(check, drawn<Matrix<float, 2, 17>>(1), call(drawn<Linear<17, 3, false, Weights::int8>>(2)));
               }),
    everywhere("weights of int8: known answers",
               [](Check& check) {
                 for (const Known& its : known) {
                   Matrix<float, 1, 3> x{};
                   for (std::size_t k = 0; k < 3; ++k) x(0, k) = __builtin_bit_cast(float, its.x[k]);
                   check.same_bits(known_layer(opaque(x)),
                                   vector<float>({__builtin_bit_cast(float, its.y[0]), __builtin_bit_cast(float, its.y[1])}));
                 }
               }),
    everywhere("quantize: a scale for each output, 1 if all its weights are 0; halves to even; padding is 128",
               [](Check& check) {
                 check_quantized(check, vector<float>({-127.0f, 2.5f, 3.5f, -0.5f}), 1.0f, {-127, 2, 4, 0});
                 check_quantized(check, vector<float>({-1.5f, 127.0f, 126.5f, 0.49999997f}), 1.0f, {-2, 127, 126, 0});
                 check_quantized(check, vector<float>({0.0f, 0.1f, -0.03f, 0.0999f}), 0.00078740157f, {0, 127, -38, 127});
                 check_quantized(check, vector<float>({0.0f, -0.0f, 0.0f, 0.0f}), 1.0f, {0, 0, 0, 0});
                 check_quantized(check, vector<float>({0x1.7cp-142f, -0x1.7cp-142f, 0.0f, 0x1p-149f}), 0x1p-149f, {127, -127, 0, 1});
                 auto same = quantize(opaque(from_torch(weight_out_in, bias)));
                 check.that(same == quantize(from_torch(weight_out_in, bias)));
                 same.weight.code[0] ^= 1;
                 check.that(same != quantize(from_torch(weight_out_in, bias)));
               }),
    at_run_time("quantize: an output with a weight that is NaN or infinite is NaN, and no other",
                [](Check& check) {
                  Linear<4, 3> of_floats = drawn<Linear<4, 3>>(1);
                  const auto x = drawn<Matrix<float, 2, 4>>(2);
                  auto expected = quantize(of_floats)(x);
                  for (std::size_t i = 0; i < 2; ++i) expected(i, 1) = quiet_nan;
                  for (const float weight : {quiet_nan, infinity, -infinity}) {
                    of_floats.weight(2, 1) = weight;
                    check.same_bits(quantize(opaque(of_floats))(x), expected);
                    check.same_bits(quantize(opaque(of_floats))(Matrix<float, 1, 4>{})(0, 1), quiet_nan);
                  }
                }),
    everywhere("from_torch takes a weight as [out, in]",
               [](Check& check) {
                 const auto layer = from_torch(opaque(weight_out_in), bias);
                 static_assert(std::is_same_v<decltype(layer), const Linear<3, 2>>);
                 check.equal(layer.weight, matrix<float>({{1.0f, 2.0f}, {0.0f, 4.0f}, {-1.0f, 0.5f}}));
                 check.equal(layer.bias, bias);
                 const auto without = from_torch(opaque(weight_out_in));
                 static_assert(std::is_same_v<decltype(without), const Linear<3, 2, false>>);
                 check.equal(without.weight, layer.weight);
                 check.that(layer == from_torch(opaque(weight_out_in), bias));
                 check.that(layer != from_torch(opaque(weight_out_in), vector<float>({10.0f, 21.0f})));
                 check.that(layer != from_torch(full<float, 2, 3>(opaque(1.0f)), bias));
               }),
    // 1 / sqrt(In) to 25 digits, rounded to float by the compiler
    everywhere("the weight is drawn before its bias, within 1 / sqrt(In), rounded once",
               [](Check& check) {
                 check_drawn<4, 3, true>(check, 0.5f);
                 check_drawn<4, 3, false>(check, 0.5f);
                 check_drawn<2, 1, false>(check, 0.7071067811865475244008444f);
                 check_drawn<7, 1, false>(check, 0.3779644730092272272145165f);
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
