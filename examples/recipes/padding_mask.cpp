// SPDX-License-Identifier: MIT
//
// Sequences of different lengths. PyTorch pads them to one length and marks padding in a bool mask;
// but in torch.nn.MultiheadAttention true means "masked", and in scaled_dot_product_attention it
// means "take part". Here each meaning is a type. On a board padding is often unnecessary: pass the
// number of tokens, and later rows cost nothing.
#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;

using Layer = MultiHeadAttention<AttentionConfig{
    .d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 2, .causal = false}>;
using Tokens = Matrix<float, 6, 8>;

static Layer::Workspace workspace;

// Takes a mask as key_padding_mask: true is padding. Its single row is for all queries.
static void attend_padded(const Layer& layer, const Tokens& x, const Vector<bool, 6>& is_padding,
                          Tokens& out) {
  layer.forward(x, BlockMask{is_padding}, out, workspace);
}

// Takes the opposite mask: true is a token.
static void attend_tokens(const Layer& layer, const Tokens& x, const Vector<bool, 6>& is_token,
                          Tokens& out) {
  layer.forward(x, KeepMask{is_token}, out, workspace);
}

// Needs no padding: attends over the first num_tokens rows of x only.
static Status attend_first(const Layer& layer, const Tokens& x, std::size_t num_tokens,
                           Tokens& out) {
  return layer.forward(x, num_tokens, out, workspace);
}

// --- What it shows ---
#include <limits>

#include "claims.h"

static bool same_first_rows(const Tokens& a, const Tokens& b, std::size_t rows) {
  bool same = true;
  for (std::size_t i = 0; i < rows; ++i) same = same && row(a, i) == row(b, i);
  return same;
}

int main() {
  static Layer layer;
  Mt19937 generator(123);
  initialize(layer, generator);
  auto x = rand<6, 8>(generator);
  for (std::size_t i = 4; i < 6; ++i)
    for (std::size_t j = 0; j < 8; ++j)
      x(i, j) = std::numeric_limits<float>::quiet_NaN();  // the worst that padding can hold

  Tokens padded, tokens;
  auto first = zeros<float, 6, 8>();
  attend_padded(layer, x, {false, false, false, false, true, true}, padded);
  attend_tokens(layer, x, {true, true, true, true, false, false}, tokens);
  // A NaN does not equal itself.
  claim("a NaN in the padding does not reach a token",
        row(padded, 0) == row(padded, 0) && row(padded, 3) == row(padded, 3));
  claim("both masks say the same", same_first_rows(padded, tokens, 4));
  claim("four tokens of six are fine", attend_first(layer, x, 4, first) == Status::ok);
  claim("without padding the tokens have the same bits", same_first_rows(padded, first, 4));
  claim("and the rows after them are untouched", row(first, 4) == zeros<float, 8>());
  return verdict();
}
