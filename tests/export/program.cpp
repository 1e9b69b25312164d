// SPDX-License-Identifier: MIT
//
// Runs an exported layer on the tokens of the standard input, and prints what comes out: a constant, then the same in a binary.
#include <cstddef>
#include <cstdio>

#include "binary.hpp"
#include "model.hpp"

extern "C" const binary::Weights placed;  // where the linker has put the binary

namespace {

template <tinyattn::AttentionConfig config>
bool run(const tinyattn::MultiHeadAttention<config>& layer) {
  static tinyattn::Matrix<float, config.context_length, config.d_in> x;
  static tinyattn::Matrix<float, config.context_length, config.d_out> out;
  static typename tinyattn::MultiHeadAttention<config>::Workspace workspace;
  for (float& element : x.elements)
    if (std::scanf("%f", &element) != 1) return false;
  layer.forward(x, out, workspace);
  for (const float element : out.elements) std::printf("%.9g\n", static_cast<double>(element));
  return true;
}

}  // namespace

int main() { return run(model::attention) && run(binary::weights(&placed).attention) ? 0 : 1; }
