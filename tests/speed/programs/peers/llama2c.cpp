// SPDX-License-Identifier: MIT
//
// Tokens of a decoder by llama2.c, which llama2c.c includes.
#include "../models.hpp"
#include "../row.hpp"

extern "C" {
void llama2c_build(const int shape[7]);
void llama2c_forward(int token, int position);
}

namespace tinyattn::bench {

struct Llama2c {
  static void compute(const auto& operands) {
    constexpr auto& transformer = stories260k.transformer;
    constexpr auto& attention = transformer.block.attention;
    static constexpr int shape[] = {attention.d_in,          transformer.block.feed_forward.d_hidden,
                                    transformer.num_layers,  attention.num_heads,
                                    attention.num_kv_heads,  stories260k.vocabulary,
                                    attention.context_length};
    static const bool is_built = (llama2c_build(shape), true);
    int position = 0;
    for (const int token : operands.tokens.elements)
      if (is_built) llama2c_forward(token, position++);
  }
};

const Row row = RowBy<Llama2c, TINYATTN_BENCH_OPERATION>::row;

}  // namespace tinyattn::bench
