// SPDX-License-Identifier: MIT
//
// Activations: every form of a call, the largest and smallest floats, and some exact bits. tests/ports/arithmetic measures their errors,
// and the workload "NaN and infinity, activations" and answers have what is not finite.
#include "tinyattn/activation.hpp"

#include "catalogue/operations.hpp"
#include "forms.hpp"
#include "tinyattn/arithmetic.hpp"

namespace tinyattn::test { namespace {

constexpr auto inputs = drawn<Matrix<float, 3, 21>>(2);

// Both tails: results of finite numbers are finite, near 0 for a very negative x and x for a large one; near 0 proportional to x.
constexpr void check_ends(Check& check, auto call) {
  for (const float x : {20.0f, 88.0f, 89.0f, 1e10f, 0x1p100f, largest_float}) {
    check.equal(call(opaque(vector<float>({x}))), vector<float>({x}));
    const float below = call(opaque(vector<float>({-x})))(0);
    check.that(below <= 0.0f && below > -1e-7f);
  }
  const auto aside = call(opaque(vector<float>({-0x1p-12f, 0x1p-12f})));
  const float slope = (aside(1) - aside(0)) * 0x1p11f;
  for (const float size : {0x1p-100f, 0x1p-60f, 0x1p-30f, 0.0f})
    for (const float x : {size, -size}) check.near(call(opaque(vector<float>({x}))), slope * x, 0x1p-21f * size);
}

constexpr Test tests[] = {
    everywhere("relu",
               [](Check& check) {
                 check.same_bits(relu(opaque(vector<float>({-largest_float, -1.0f, -0x1p-126f, 0.0f, 0x1p-126f, 1.5f, largest_float}))),
                                 vector<float>({0.0f, 0.0f, 0.0f, 0.0f, 0x1p-126f, 1.5f, largest_float}));
               }),
    everywhere("in each form, and as one element after the other",
               [](Check& check) {
                 for_each_activation([&]<Activation activation>(const char*) {
                   check_forms_in_place(check, inputs, activate<activation>);
                   const auto together = activate<activation>(opaque(inputs));
                   for (std::size_t i = 0; i < inputs.size(); ++i)
                     check.same_bits(activate<activation>(vector<float>({inputs.elements[i]})), together.elements[i]);
                 });
               }),
    everywhere("standardize, step by step",
               [](Check& check) {
                 const auto mean = drawn<Vector<float, 21>>(3), inverse_deviation = drawn<Vector<float, 21>>(4);
                 check.same_bits(standardize(opaque(inputs), mean, inverse_deviation), multiply(subtract(inputs, mean), inverse_deviation));
               }),
    everywhere("the largest floats and small ones",
               [](Check& check) {
                 for_each_activation([&]<Activation activation>(const char*) {
                   if (activation != Activation::relu) check_ends(check, activate<activation>);
                 });
               }),
    everywhere("below 0, where 1 + erf and 1 + tanh would cancel",
               [](Check& check) {
                 const auto x = opaque(vector<float>({-5.1f, -9.1f}));
                 const auto near = [&](const auto& values, double first, double second) {
                   for (const double quotient : {static_cast<double>(values(0)) / first, static_cast<double>(values(1)) / second})
                     check.that(quotient > 1 - 0x1p-21 && quotient < 1 + 0x1p-21);
                 };
                 near(gelu(x), -8.66116797845262468e-7, -4.11008399347049516e-19);
                 near(gelu_tanh(x), -1.15445293100993548e-7, -1.9953421140308166e-29);
                 near(silu(x), -0.0309049899586404233, -0.00101604505477416264);
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
