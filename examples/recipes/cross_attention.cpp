// SPDX-License-Identifier: MIT
//
// Cross-attention: queries from one input, keys and values from another, as a decoder attends to
// the output of an encoder. The numbers of tokens of both are known only at run time; too many give
// a Status.
#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;

// context_length bounds both lengths. A decoder attends to all of the source: not causal.
using Layer = MultiHeadAttention<AttentionConfig{
    .d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 2, .causal = false}>;

static Layer::Workspace workspace;

// Rows after the counts are neither read nor written.
static Status read(const Layer& layer, const Matrix<float, 4, 8>& asks, std::size_t num_tokens,
                   const Matrix<float, 6, 8>& source, std::size_t num_source_tokens,
                   Matrix<float, 4, 8>& out) {
  return layer.forward(asks, source, source, num_tokens, num_source_tokens, out, workspace);
}

// --- What it shows ---
#include <limits>

#include "claims.h"

int main() {
  static Layer layer;
  Mt19937 generator(123);
  initialize(layer, generator);
  const auto asks = rand<4, 8>(generator);
  const auto source = rand<6, 8>(generator);

  auto all = zeros<float, 4, 8>();
  claim("all tokens of both are fine", read(layer, asks, 4, source, 6, all) == Status::ok);
  claim("with all of them it is the call without counts", all == layer(asks, source, source));

  auto unfinished = source;
  for (std::size_t i = 2; i < 6; ++i)
    for (std::size_t j = 0; j < 8; ++j) unfinished(i, j) = std::numeric_limits<float>::quiet_NaN();
  auto out = zeros<float, 4, 8>();
  claim("three tokens read two", read(layer, asks, 3, unfinished, 2, out) == Status::ok);
  // A NaN does not equal itself.
  claim("what the source holds after them does not matter", row(out, 2)(0) == row(out, 2)(0));
  claim("the fourth row is untouched", row(out, 3) == zeros<float, 8>());

  const auto before = out;
  claim("seven source tokens are refused",
        read(layer, asks, 3, source, 7, out) == Status::too_many_tokens);
  claim("and nothing is written then", out == before);
  return verdict();
}
