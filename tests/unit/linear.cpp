// SPDX-License-Identifier: MIT
//
// The affine layer: chains that start at the bias, PyTorch's layout and PyTorch's first weights.
#include "tinyattn/linear.hpp"

#include <cstddef>
#include <type_traits>

#include "plain.hpp"
#include "support/check.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

// An absent bias takes no room.
static_assert(sizeof(Linear<3, 2>) == (3 * 2 + 2) * sizeof(float));
static_assert(sizeof(Linear<3, 2, false>) == 3 * 2 * sizeof(float));
static_assert(sizeof(Linear<1, 1, false>) == sizeof(float));
static_assert(std::is_aggregate_v<Linear<3, 2>> && std::is_trivially_copyable_v<Linear<3, 2, false>>);

constexpr auto inputs = matrix<float>({{1.0f, 2.0f, 3.0f}, {-1.0f, 0.5f, 0.0f}});
constexpr auto weight_out_in = matrix<float>({{1.0f, 0.0f, -1.0f}, {2.0f, 4.0f, 0.5f}});

// A layer that is a temporary, whose bias is compared with null while the compiler computes.
static_assert(from_torch(weight_out_in, vector<float>({1.0f, 2.0f}))(inputs) == matrix<float>({{-1.0f, 13.5f}, {0.0f, 2.0f}}));

template <class Layer>
constexpr Layer drawn(std::uint32_t seed) {
  Layer layer{};
  Mt19937 generator(hidden(seed));
  initialize(layer, generator);
  return layer;
}

constexpr Test tests[] = {
    everywhere("x times weight, plus bias",
               [](Check& check) {
                 const Linear<3, 2> layer{transpose(hidden(weight_out_in)), vector<float>({10.0f, 20.0f})};
                 check.equal(layer(inputs), matrix<float>({{8.0f, 31.5f}, {9.0f, 20.0f}}));
                 check.equal(layer(row(inputs, 1)), vector<float>({9.0f, 20.0f}));
               }),
    everywhere("without a bias",
               [](Check& check) {
                 const Linear<3, 2, false> layer{transpose(hidden(weight_out_in)), {}};
                 check.equal(layer(inputs), matrix<float>({{-2.0f, 11.5f}, {-1.0f, 0.0f}}));
               }),
    everywhere("a chain starts at the bias",
               [](Check& check) {
                 // 2^24 swallows each 1 in its turn; a bias added at the end would find their sum, 2.
                 const Linear<2, 1> layer{hidden(matrix<float>({{1.0f}, {1.0f}})), vector<float>({0x1p24f})};
                 check.equal(layer(hidden(vector<float>({1.0f, 1.0f}))), vector<float>({0x1p24f}));
               }),
    everywhere("the same bits as a plain loop of fma",
               [](Check& check) {
                 const auto x = hidden(numbers<Matrix<float, 5, 7>>(1));
                 const Linear<7, 9> layer{numbers<Matrix<float, 7, 9>>(2), numbers<Vector<float, 9>>(3)};
                 check.same_bits(layer(x), plain_matmul(x, layer.weight, layer.bias));
                 const Linear<7, 9, false> without{layer.weight, {}};
                 check.same_bits(without(x), plain_matmul(x, layer.weight));
               }),
    everywhere("a batch",
               [](Check& check) {
                 const Linear<3, 2> layer{transpose(hidden(weight_out_in)), vector<float>({10.0f, 20.0f})};
                 const auto other = full<float, 2, 3>(0.5f);
                 const auto out = layer(stack(inputs, other));
                 static_assert(std::is_same_v<decltype(out), const Tensor<float, 2, 2, 2>>);
                 check.same_bits(out, stack(layer(inputs), layer(other)));
               }),
    everywhere("from_torch takes a weight as [out, in]",
               [](Check& check) {
                 const auto layer = from_torch(hidden(weight_out_in), vector<float>({10.0f, 20.0f}));
                 static_assert(std::is_same_v<decltype(layer), const Linear<3, 2>>);
                 check.equal(layer.weight, matrix<float>({{1.0f, 2.0f}, {0.0f, 4.0f}, {-1.0f, 0.5f}}));
                 check.equal(layer.bias, vector<float>({10.0f, 20.0f}));
                 const auto without = from_torch(hidden(weight_out_in));
                 static_assert(std::is_same_v<decltype(without), const Linear<3, 2, false>>);
                 check.equal(without.weight, layer.weight);
                 check.that(layer == from_torch(hidden(weight_out_in), vector<float>({10.0f, 20.0f})));
                 check.that(layer != from_torch(hidden(weight_out_in), vector<float>({10.0f, 21.0f})));
                 check.that(layer != from_torch(full<float, 2, 3>(hidden(1.0f)), vector<float>({10.0f, 20.0f})));
               }),
    // torch.manual_seed(789); torch.nn.Linear(3, 2, bias=False).weight, PyTorch on a CPU
    everywhere(
        "initialize draws what torch.nn.Linear draws",
        [](Check& check) {
          const auto expected = matrix<float>({{0.316059083f, 0.456808567f, 0.51183486f}, {-0.1682854f, -0.337877035f, -0.0917738676f}});
          check.same_bits(drawn<Linear<3, 2, false>>(789).weight, transpose(expected));
        }),
    everywhere("the weight is drawn before its bias, within the same bound",
               [](Check& check) {
                 const auto layer = drawn<Linear<4, 3>>(5);
                 Mt19937 generator(5);
                 for (std::size_t out = 0; out < 3; ++out) {
                   for (std::size_t in = 0; in < 4; ++in) check.same_bits(layer.weight(in, out), uniform(generator, -0.5f, 0.5f));
                 }
                 for (std::size_t out = 0; out < 3; ++out) check.same_bits(layer.bias(out), uniform(generator, -0.5f, 0.5f));
                 check.same_bits(drawn<Linear<4, 3, false>>(5).weight, layer.weight);
               }),
    // 1 / sqrt(In) to 25 digits, rounded to float by the compiler
    everywhere("the bound is 1 / sqrt(In), rounded once",
               [](Check& check) {
                 const auto two = drawn<Linear<2, 1, false>>(6);
                 const auto seven = drawn<Linear<7, 1, false>>(6);
                 Mt19937 of_two(6);
                 Mt19937 of_seven(6);
                 for (std::size_t i = 0; i < 2; ++i) {
                   check.same_bits(two.weight(i, 0), uniform(of_two, -0.7071067811865475244008444f, 0.7071067811865475244008444f));
                 }
                 for (std::size_t i = 0; i < 7; ++i) {
                   check.same_bits(seven.weight(i, 0), uniform(of_seven, -0.3779644730092272272145165f, 0.3779644730092272272145165f));
                 }
               }),
    at_run_time("weights fill the bound and stay inside",
                [](Check& check) {
                  static Linear<64, 64> layer;
                  Mt19937 generator(8);
                  initialize(layer, generator);
                  float smallest = 1.0f;
                  float largest = -1.0f;
                  for (const float element : layer.weight.elements) {
                    smallest = element < smallest ? element : smallest;
                    largest = element > largest ? element : largest;
                  }
                  check.that(-0.125f <= smallest && smallest < -0.1249f && 0.1249f < largest && largest < 0.125f);
                }),
    at_run_time("NaN and infinity go through",
                [](Check& check) {
                  const Linear<2, 2> layer{matrix<float>({{1.0f, 0.0f}, {1.0f, 1.0f}}), vector<float>({-infinity, 1.0f})};
                  check.same_bits(layer(hidden(vector<float>({1.0f, quiet_nan}))), vector<float>({quiet_nan, quiet_nan}));
                  check.same_bits(layer(hidden(vector<float>({2.0f, 3.0f}))), vector<float>({-infinity, 4.0f}));
                  check.same_bits(layer(hidden(vector<float>({infinity, 3.0f}))), vector<float>({quiet_nan, quiet_nan}));
                }),
};

}  // namespace

int main() { return run(tests); }
