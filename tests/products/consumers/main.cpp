// SPDX-License-Identifier: MIT
//
// A user's program, built in each of the ways in which a project may use tinyattn.
#include <tinyattn/tinyattn.hpp>

int main() {
  using namespace tinyattn;
  constexpr auto inputs = matrix<float>({{0.43f, 0.15f, 0.89f}, {0.55f, 0.87f, 0.66f}});
  constexpr auto weights = softmax(matmul_transposed(inputs, inputs));
  static_assert(weights(0, 0) + weights(0, 1) > 0.999999f && weights(0, 0) + weights(0, 1) < 1.000001f);
  return softmax(matmul_transposed(inputs, inputs)) == weights ? 0 : 1;
}
