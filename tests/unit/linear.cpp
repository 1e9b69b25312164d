// SPDX-License-Identifier: MIT
//
// The affine layer: sequential sums that start at the bias, PyTorch's layout, and the order in which initialize draws.
#include "tinyattn/linear.hpp"

#include <type_traits>

#include "catalogue/operations.hpp"
#include "catalogue/twin.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

// An absent bias takes no space.
static_assert(sizeof(Linear<3, 2>) == (3 * 2 + 2) * sizeof(float));
static_assert(sizeof(Linear<3, 2, false>) == 3 * 2 * sizeof(float));
static_assert(sizeof(Linear<1, 1, false>) == sizeof(float));
static_assert(std::is_aggregate_v<Linear<3, 2>> && std::is_trivially_copyable_v<Linear<3, 2, false>>);

constexpr auto inputs = matrix<float>({{1.0f, 2.0f, 3.0f}, {-1.0f, 0.5f, 0.0f}});
constexpr auto weight_out_in = matrix<float>({{1.0f, 0.0f, -1.0f}, {2.0f, 4.0f, 0.5f}});
constexpr auto bias = vector<float>({10.0f, 20.0f});

// A layer may be a temporary in a constant expression, where the compiler compares its bias with null.
static_assert(from_torch(weight_out_in, vector<float>({1.0f, 2.0f}))(inputs) == matrix<float>({{-1.0f, 13.5f}, {0.0f, 2.0f}}));

// Checks that initialize draws the weights in PyTorch's order and then the biases, uniform within the bound; golden/tables.cpp
// compares with PyTorch's numbers.
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

constexpr Test tests[] = {
    everywhere("in each form as in plain loops: a sequential sum that starts at the bias",
               as_in_plain_loops<ModuleForms<Linear<7, 9>, 7, 9>, ModuleForms<Linear<7, 9, false>, 7, 9>>),
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

}  // namespace

int main() { return run(tests); }
