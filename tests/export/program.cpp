// SPDX-License-Identifier: MIT
//
// Runs an exported layer on the tokens of the standard input, and prints what comes out. The header is given with -include.
#include <cstddef>
#include <cstdio>

#ifdef IN_PLACE
extern "C" const model::Weights model_weights;  // where the linker has put the binary
#define ATTENTION model::weights(&model_weights).attention
#else
#define ATTENTION model::attention
#endif

namespace {

template <tinyattn::AttentionConfig config>
int run(const tinyattn::MultiHeadAttention<config>& layer) {
  static tinyattn::Matrix<float, config.context_length, config.d_in> x;
  static tinyattn::Matrix<float, config.context_length, config.d_out> out;
  static typename tinyattn::MultiHeadAttention<config>::Workspace workspace;
  for (float& element : x.elements)
    if (std::scanf("%f", &element) != 1) return 1;
  layer.forward(x, out, workspace);
  for (const float element : out.elements) std::printf("%.9g\n", static_cast<double>(element));
  return 0;
}

}  // namespace

int main() { return run(ATTENTION); }
