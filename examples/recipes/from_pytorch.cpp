// SPDX-License-Identifier: MIT
//
// From PyTorch. The weights of a torch.nn.MultiheadAttention(8, 2), saved as safetensors, became
// the header trained.hpp:
//
//   python3 ports/pytorch/export.py multihead_attention.safetensors -o trained.hpp
//     --name trained --num-heads 2 --context-length 5 --no-causal
//
// It holds a constant, trained::attention, which lies in flash. Its type has the shape, so that no
// number has to be repeated here.
#include <type_traits>

#include "tinyattn/tinyattn.hpp"
#include "trained.hpp"

using namespace tinyattn;

using Layer = std::remove_const_t<decltype(trained::attention)>;

static Layer::Workspace workspace;

static void attend(const Matrix<float, 5, 8>& tokens, Matrix<float, 5, 8>& out) {
  trained::attention.forward(tokens, out, workspace);
}

// --- What it shows ---
#include "by_pytorch.hpp"
#include "claims.h"

// PyTorch sums in another order, so that the last bits differ.
static bool is_near(const Matrix<float, 5, 8>& a, const Matrix<float, 5, 8>& b) {
  bool near = true;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float difference = a.elements[i] - b.elements[i];
    near = near && difference < 1e-6f && -difference < 1e-6f;
  }
  return near;
}

int main() {
  Matrix<float, 5, 8> out;
  attend(by_pytorch::input, out);
  claim("each number is PyTorch's to a millionth", is_near(out, by_pytorch::output));
  claim("in_proj_weight, in_proj_bias and out_proj are all there",
        Layer::parameter_count == 4 * (8 * 8 + 8));
  return verdict();
}
