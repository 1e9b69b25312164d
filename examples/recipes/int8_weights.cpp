// SPDX-License-Identifier: MIT
//
// int8 weights. The exporter quantizes a checkpoint with `--weights int8`; `quantize` does it for
// weights in the source, here at compile time, so that no float weight reaches the flash. Each
// output has a scale, and each weight is an integer multiple of it.
#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;

// A layer of 32 inputs and 8 outputs, with weights from a generator.
constexpr auto make_layer() {
  Linear<32, 8> layer;
  Mt19937 generator(1);
  initialize(layer, generator);
  return layer;
}

constexpr auto layer = quantize(make_layer());  // Linear<32, 8, true, Weights::int8>

static void apply(const Matrix<float, 4, 32>& x, Matrix<float, 4, 8>& out) {
  layer.forward(x, out);
}

// A weight as the layer multiplies with it, to look at rounding errors.
constexpr float weight_of(std::size_t output, std::size_t input) {
  const int steps = layer.weight.code[output * layer.weight.row_size + input] - 128;
  return static_cast<float>(steps) * layer.weight.scale[output];
}

// --- What it shows ---
#include "claims.h"

static float distance(float a, float b) { return a < b ? b - a : a - b; }

static bool is_within_half_a_step() {
  static constexpr auto exact = make_layer();
  for (std::size_t o = 0; o < 8; ++o)
    for (std::size_t i = 0; i < 32; ++i)
      if (distance(weight_of(o, i), exact.weight(i, o)) > 0.501f * layer.weight.scale[o])
        return false;
  return true;
}

static bool is_near(const Matrix<float, 4, 8>& a, const Matrix<float, 4, 8>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (distance(a.elements[i], b.elements[i]) > 0.02f) return false;
  return true;
}

int main() {
  Matrix<float, 4, 32> x;
  Mt19937 generator(2);
  for (float& element : x.elements) element = uniform(generator, -1.0f, 1.0f);
  Matrix<float, 4, 8> out;
  apply(x, out);
  claim("weights and scales take 288 bytes, where floats take 1,024",
        layer.parameter_bytes - sizeof layer.bias == 288);
  claim("no weight is off by more than half a step", is_within_half_a_step());
  claim("no output is off by more than 0.02", is_near(out, make_layer()(x)));
  constexpr auto in_the_compiler = layer(Matrix<float, 1, 32>{{1.0f, -0.5f, 0.25f}});
  static Matrix<float, 1, 32> row{{1.0f, -0.5f, 0.25f}};
  claim("the compiler computes the same bits", layer(row) == in_the_compiler);
  return verdict();
}
