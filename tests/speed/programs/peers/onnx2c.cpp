// SPDX-License-Identifier: MIT
//
// The module of modules.hpp by onnx2c, whose C code onnx2c.py makes. Its outputs must be those of PyTorch.
#include "../../../golden/modules/gestures.hpp"
#include "../row.hpp"

extern "C" void entry(const float* x, float* out);

namespace tinyattn::bench {

struct Onnx2c {
  static void compute(auto& operands) { entry(operands.x.elements, operands.out.elements); }
};

struct Exported {
  gestures::Model::Input x = gestures::example_input;
  gestures::Model::Output out;

  void prepare() {
    Onnx2c::compute(*this);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const float difference = out.elements[i] - gestures::example_output.elements[i];
      if (!(difference < 1e-4f && -difference < 1e-4f)) __builtin_trap();
    }
  }
};

const Row row = RowBy<Onnx2c, Exported>::row;

}  // namespace tinyattn::bench
