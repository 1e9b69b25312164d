// SPDX-License-Identifier: MIT
//
// A model in a static_assert. Every function of the library can run at compile time, with the bits
// that the board computes. So a firmware can refuse to compile with weights that do not work, or
// contain results only: a constexpr result is a number in the code, and neither the layer nor its
// code is in the firmware.
#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;

using Layer =
    MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;

// The weights that PyTorch draws for such a layer after torch.manual_seed(123), drawn at compile
// time.
constexpr Layer layer = [] {
  Layer drawn{};
  Mt19937 generator(123);
  initialize(drawn, generator);
  return drawn;
}();

constexpr Matrix<float, 6, 3> tokens = {
    0.43f, 0.15f, 0.89f,  // Your
    0.55f, 0.87f, 0.66f,  // journey
    0.57f, 0.85f, 0.64f,  // starts
    0.22f, 0.58f, 0.33f,  // with
    0.77f, 0.25f, 0.10f,  // one
    0.05f, 0.80f, 0.55f,  // step
};

constexpr auto result = layer(tokens);

// The first token attends only to itself: later tokens change none of its bits.
static_assert([] {
  auto others = tokens;
  for (std::size_t j = 0; j < 3; ++j) others(5, j) = -1;
  return row(layer(others), 0) == row(result, 0);
}());

// The sizes cannot grow by accident.
static_assert(Layer::parameter_count == 56 && sizeof(Layer) == 56 * sizeof(float));
static_assert(sizeof(Layer::Workspace) <= 1024);

// --- What it shows ---
#include "claims.h"

int main() {
  static Layer::Workspace workspace;
  // Read at run time, so that the compiler cannot know the answer.
  const volatile float first = tokens(0, 0);
  Matrix<float, 6, 3> x = tokens;
  x(0, 0) = first;
  Matrix<float, 6, 4> out;
  layer.forward(x, out, workspace);
  claim("the board has the bits that the compiler has", out == result);
  return verdict();
}
