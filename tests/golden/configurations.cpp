// SPDX-License-Identifier: MIT
//
// What three common sizes take, known to the compiler: parameters, their bytes, and the scratch of a call.

#include <cstddef>

#include "support/check.hpp"
#include "tinyattn/multi_head_attention.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

constexpr std::size_t kilobyte = 1024;

template <std::size_t Width, std::size_t ContextLength, std::size_t NumHeads>
using Attention = MultiHeadAttention<AttentionConfig{
    .d_in = Width, .d_out = Width, .context_length = ContextLength, .num_heads = NumHeads, .out_bias = false}>;

template <std::size_t Width, std::size_t ContextLength, std::size_t NumHeads>
constexpr std::size_t scratch = sizeof(typename Attention<Width, ContextLength, NumHeads>::Workspace);

// How a firmware holds its model to a budget.
static_assert(sizeof(Attention<64, 32, 4>) + scratch<64, 32, 4> <= 96 * kilobyte);

template <class Module>
constexpr void takes(Check& check, std::size_t parameters, std::size_t kilobytes) {
  check.equal(Module::parameter_count, parameters);
  check.equal(sizeof(Module), parameters * sizeof(float));
  check.equal(sizeof(Module), kilobytes * kilobyte);
}

// Keys, values and a block of rows: never a score for each pair of tokens.
template <std::size_t Width, std::size_t ContextLength, std::size_t NumHeads>
constexpr void needs_little_scratch(Check& check) {
  constexpr std::size_t keys_and_values = 2 * ContextLength * Width * sizeof(float);
  check.that(scratch<Width, ContextLength, NumHeads> >= keys_and_values);
  check.that(scratch<Width, ContextLength, NumHeads> <= 2 * keys_and_values);
  check.that(scratch<Width, 16 * ContextLength, NumHeads> <= 16 * scratch<Width, ContextLength, NumHeads>);
}

constexpr Test tests[] = {
    everywhere("64 wide, 4 heads: 16,384 parameters, 64 KB", [](Check& check) { takes<Attention<64, 32, 4>>(check, 16'384, 64); }),
    everywhere("256 wide, 8 heads: 262,144 parameters, 1,024 KB",
               [](Check& check) { takes<Attention<256, 256, 8>>(check, 262'144, 1'024); }),
    everywhere("512 wide, 8 heads: 1,048,576 parameters, 4,096 KB",
               [](Check& check) { takes<Attention<512, 512, 8>>(check, 1'048'576, 4'096); }),
    everywhere("a bias counts, a missing one takes no room",
               [](Check& check) {
                 using WithBiases =
                     MultiHeadAttention<AttentionConfig{.d_in = 64, .d_out = 64, .context_length = 32, .num_heads = 4, .qkv_bias = true}>;
                 check.equal(WithBiases::parameter_count, std::size_t{16'384 + 4 * 64});
                 check.equal(sizeof(WithBiases), WithBiases::parameter_count * sizeof(float));
                 check.equal(SelfAttention<64, 64, 32>::parameter_count, std::size_t{3 * 64 * 64});
                 check.equal(sizeof(SelfAttention<64, 64, 32>), SelfAttention<64, 64, 32>::parameter_count * sizeof(float));
               }),
    everywhere("scratch grows as tokens times width",
               [](Check& check) {
                 needs_little_scratch<64, 32, 4>(check);
                 needs_little_scratch<256, 256, 8>(check);
                 needs_little_scratch<512, 512, 8>(check);
               }),
};

}  // namespace

int main() { return run(tests); }
