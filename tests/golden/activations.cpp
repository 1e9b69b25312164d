// SPDX-License-Identifier: MIT
//
// tanh, erf and the activations against PyTorch's.
#include "golden.hpp"
#include "tinyattn/activation.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr auto each = [](auto function) {
  auto m = opaque(reference::activation_x);
  for (float& x : m.elements) x = function(x);
  return m;
};

constexpr float near_one = 2.5e-7f;  // some units in the last place of a number near 1

constexpr Test tests[] = {
    everywhere("activations",
               [](Check& check) {
                 const auto x = opaque(reference::activation_x);
                 check.equal(relu(x), reference::activation_relu);
                 check.near(gelu(x), reference::activation_gelu, near_one);
                 check.near(gelu_tanh(x), reference::activation_gelu_tanh, near_one);
                 check.near(silu(x), reference::activation_silu, near_one);
               }),
    everywhere("tanh and erf",
               [](Check& check) {
                 check.near(each([](float x) { return tanh(x); }), reference::activation_tanh, near_one);
                 check.near(each([](float x) { return erf(x); }), reference::activation_erf, near_one);
               }),
};

}  // namespace

int main() { return run(tests); }
