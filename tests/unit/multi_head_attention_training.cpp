// SPDX-License-Identifier: MIT
//
// The training pass: which random number drops which weight and which output, of each batch element and by either generator.
#include "catalogue/attention.hpp"
#include "catalogue/twin.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr AttentionConfig base{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2};
constexpr AttentionConfig unmasked{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2, .causal = false};
constexpr AttentionConfig with_bias{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2, .qkv_bias = true};
constexpr AttentionConfig bare{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2, .out_proj = false};
constexpr AttentionConfig of_several_blocks{.d_in = 3, .d_out = 6, .context_length = 37, .num_heads = 3};

consteval AttentionConfig with_rates(AttentionConfig config, double dropout, double residual_dropout) {
  config.dropout = dropout;
  config.residual_dropout = residual_dropout;
  return config;
}

// Two passes of a batch of two: the second continues with the generator where the first left it.
template <AttentionConfig config, std::size_t Tokens = 5>
using Passes = TrainingPass<config, Mt19937, 2, Tokens>;

constexpr Test tests[] = {
    at_run_time(
        "dropout of weights, of outputs and of both, whatever else a layer has",
        as_in_plain_loops<Passes<with_rates(base, 0.5, 0.0)>, Passes<with_rates(base, 0.0, 0.5)>, Passes<with_rates(base, 0.25, 0.1)>,
                          Passes<with_rates(unmasked, 0.1, 0.25)>, Passes<with_rates(with_bias, 0.15, 0.4)>,
                          Passes<with_rates(bare, 0.3, 0.2)>, Passes<with_rates(of_several_blocks, 0.5, 0.25), 37>>),
    at_run_time("rates of 0 and 1 draw nothing",
                as_in_plain_loops<Passes<base>, Passes<with_rates(base, 1.0, 0.0)>, Passes<with_rates(base, 0.0, 1.0)>>),
    everywhere("two short sequences from either generator, in the compiler as well",
               as_in_plain_loops<Passes<with_rates(base, 0.5, 0.25), 2>, TrainingPass<with_rates(base, 0.5, 0.25), Philox4x32, 2, 2>>),
};

}  // namespace

int main() { return run(tests); }
