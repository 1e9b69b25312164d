// SPDX-License-Identifier: MIT
//
// A layer by hand. Its weights are constants in the source, which lie in flash, chosen so that its
// result is obvious: all queries are 0, so every key has the same score, and the values are the
// tokens themselves. Each token then becomes the mean of all tokens up to it.
#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{
    .d_in = 4, .d_out = 4, .context_length = 8, .num_heads = 2, .out_bias = false}>;

// A weight is [d_in, d_out]: row i is the contribution of a token's feature i.
constexpr Matrix<float, 4, 4> identity = {
    1, 0, 0, 0,  //
    0, 1, 0, 0,  //
    0, 0, 1, 0,  //
    0, 0, 0, 1,
};
constexpr Layer running_mean = {.query = {.weight = {}},
                                .key = {.weight = identity},
                                .value = {.weight = identity},
                                .out_proj = {.weight = identity}};

static Layer::Workspace workspace;

static void smooth(const Matrix<float, 4, 4>& samples, Matrix<float, 4, 4>& out) {
  running_mean.forward(samples, out, workspace);
}

// --- What it shows ---
#include "claims.h"

int main() {
  const Matrix<float, 4, 4> samples = {
      8, 4,  0,  1,   //
      0, 2,  0,  3,   //
      4, 0,  -6, 5,   //
      0, 10, 2,  -1,  //
  };
  Matrix<float, 4, 4> out;
  smooth(samples, out);
  claim("the first token, which sees itself alone, stays as it is", row(out, 0) == row(samples, 0));
  claim("the second is the mean of two", row(out, 1) == Vector<float, 4>{4, 3, 0, 2});
  claim("the last is the mean of all", row(out, 3) == Vector<float, 4>{3, 4, -1, 2});
  claim("the layer has a parameter for each number above",
        Layer::parameter_count == 4 * identity.size());
  return verdict();
}
