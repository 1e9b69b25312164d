// SPDX-License-Identifier: MIT
//
// Tokens of a decoder by llama2.c, which llama2c.c includes.
#include "../models.hpp"
#include "../row.hpp"

extern "C" {
void llama2c_build(const int shape[7]);
void llama2c_forward(int token, int position);
}

namespace tinyattn::bench { namespace {

struct Llama2c {
  template <std::size_t Tokens, std::size_t Vocabulary, std::size_t DModel, std::size_t NumLayers, std::size_t NumHeads,
            std::size_t NumKvHeads, std::size_t DHidden, std::size_t ContextLength>
  static void compute(Token<Tokens, Vocabulary, DModel, NumLayers, NumHeads, NumKvHeads, DHidden, ContextLength>& operands) {
    static constexpr int shape[] = {DModel, DHidden, NumLayers, NumHeads, NumKvHeads, Vocabulary, ContextLength};
    static const bool is_built = (llama2c_build(shape), true);
    int position = 0;
    for (const int token : operands.tokens.elements)
      if (is_built) llama2c_forward(token, position++);
  }
};

TINYATTN_BENCH_ROW_BY(Llama2c);

}}  // namespace tinyattn::bench
