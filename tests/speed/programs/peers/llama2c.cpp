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

struct Tokens : TINYATTN_BENCH_OPERATION {
  void prepare() {
    static constexpr LanguageModelConfig config = measured_config();
    static constexpr auto& transformer = config.transformer;
    static constexpr auto& attention = transformer.block.attention;
    constexpr int shape[] = {attention.d_in,          transformer.block.feed_forward.d_hidden,
                             transformer.num_layers,  attention.num_heads,
                             attention.num_kv_heads,  config.vocabulary,
                             attention.context_length};
    llama2c_build(shape);
    choose_tokens();
  }
};

struct Llama2c {
  static void compute(const auto& operands) {
    int position = 0;
    for (const int token : operands.tokens.elements) llama2c_forward(token, position++);
  }
};

const Row row = RowBy<Llama2c, Tokens>::row;

}  // namespace tinyattn::bench
