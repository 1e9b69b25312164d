// SPDX-License-Identifier: MIT
//
// A layer by emlearn, which emlearn.c includes. It has the layer's own weights: they are laid out as ours are.
#include "../operations.hpp"
#include "../row.hpp"

extern "C" int eml_net_forward(const float* in, int32_t inputs, const float* weights, const float* biases, int activation, float* out,
                               int32_t outputs);

namespace tinyattn::bench {

struct Emlearn {
  template <std::size_t Inner, std::size_t Cols>
  static void compute(Linear<1, Inner, Cols>& operands) {
    constexpr int identity = 0;
    const auto& layer = operands.layer;
    eml_net_forward(operands.x.elements, Inner, layer.weight.elements, layer.bias.elements, identity, operands.out.elements, Cols);
  }
};

const Row row = RowBy<Emlearn, TINYATTN_BENCH_OPERATION>::row;

}  // namespace tinyattn::bench
