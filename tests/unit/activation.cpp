// SPDX-License-Identifier: MIT
//
// The activations: every form of a call, the ends of the floats, and some bits. How near they are to the truth is tests/arithmetic's.
#include "tinyattn/activation.hpp"

#include "plain.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr float largest = std::numeric_limits<float>::max();

constexpr auto inputs = [] {
  auto m = numbers<Matrix<float, 3, 21>>(1);
  for (float& x : m.elements) x *= 8.0f;
  return m;
}();
constexpr auto other_inputs = numbers<Matrix<float, 3, 21>>(2);

constexpr auto call_relu = [](auto&&... m) { return relu(m...); };
constexpr auto call_gelu = [](auto&&... m) { return gelu(m...); };
constexpr auto call_gelu_tanh = [](auto&&... m) { return gelu_tanh(m...); };
constexpr auto call_silu = [](auto&&... m) { return silu(m...); };

// One element after the other, on one lane, with the activation as data.
constexpr auto plain(Activation activation, auto m) {
  for (float& x : m.elements) kernel::activate_row<port::scalar>(hidden(activation), &x, &x, 1);
  return m;
}

// By value, of a batch, of a view, into an output and in place.
constexpr void check_forms(Check& check, Activation activation, auto call) {
  const auto expected = plain(activation, inputs), other_expected = plain(activation, other_inputs);
  check.same_bits(call(hidden(inputs)), expected);
  check.same_bits(call(hidden(stack(inputs, other_inputs))), stack(expected, other_expected));
  check.same_bits(call(columns<5>(inputs, 3)), plain_columns<5>(expected, 3));
  check_output(check, expected, [&](auto& out) { call(hidden(inputs), out); });
  check_in_place(check, expected, inputs, [&](auto& m) { call(m, m); });
}

// What is finite stays finite, and goes to 0 below 0, to x above it.
constexpr void check_ends(Check& check, auto call) {
  for (const float x : {20.0f, 88.0f, 89.0f, 1e10f, 0x1p100f, largest}) {
    check.equal(call(hidden(vector<float>({x}))), vector<float>({x}));
    const float below = call(hidden(vector<float>({-x})))(0);
    check.that(below <= 0.0f && below > -1e-7f);
  }
  for (const float x : {0x1p-100f, -0x1p-100f, 0x1p-30f, -0x1p-30f, 0.0f})
    check.equal(call(hidden(vector<float>({x}))), vector<float>({0.5f * x}));
}

// Whatever lane it lies in.
void check_not_finite(Check& check, auto call) {
  for (std::size_t place = 0; place < 21; ++place) {
    auto m = hidden(other_inputs);
    m(1, place) = quiet_nan;
    auto expected = call(other_inputs);
    expected(1, place) = quiet_nan;
    check.same_bits(call(m), expected);
  }
  check.equal(call(hidden(vector<float>({infinity, -infinity}))), vector<float>({infinity, 0.0f}));
}

constexpr Test tests[] = {
    everywhere("relu",
               [](Check& check) {
                 check.same_bits(relu(hidden(vector<float>({-largest, -1.0f, -0x1p-126f, 0.0f, 0x1p-126f, 1.5f, largest}))),
                                 vector<float>({0.0f, 0.0f, 0.0f, 0.0f, 0x1p-126f, 1.5f, largest}));
               }),
    everywhere("in each form the bits of one element after the other, and nothing beside them",
               [](Check& check) {
                 check_forms(check, Activation::relu, call_relu);
                 check_forms(check, Activation::gelu, call_gelu);
                 check_forms(check, Activation::gelu_tanh, call_gelu_tanh);
                 check_forms(check, Activation::silu, call_silu);
               }),
    everywhere("the largest floats and small ones",
               [](Check& check) {
                 check_ends(check, call_gelu);
                 check_ends(check, call_gelu_tanh);
                 check_ends(check, call_silu);
               }),
    everywhere("below 0, where 1 + erf and 1 + tanh would cancel",
               [](Check& check) {
                 const auto x = hidden(vector<float>({-5.1f, -9.1f}));
                 const auto near = [&](const auto& values, double first, double second) {
                   for (const double quotient : {static_cast<double>(values(0)) / first, static_cast<double>(values(1)) / second})
                     check.that(quotient > 1 - 0x1p-21 && quotient < 1 + 0x1p-21);
                 };
                 near(gelu(x), -8.66116797845262468e-7, -4.11008399347049516e-19);
                 near(gelu_tanh(x), -1.15445293100993548e-7, -1.9953421140308166e-29);
                 near(silu(x), -0.0309049899586404233, -0.00101604505477416264);
               }),
    at_run_time("a NaN stays one, and no other becomes one; infinities",
                [](Check& check) {
                  check_not_finite(check, call_relu);
                  check_not_finite(check, call_gelu);
                  check_not_finite(check, call_gelu_tanh);
                  check_not_finite(check, call_silu);
                }),
};

}  // namespace

int main() { return run(tests); }
