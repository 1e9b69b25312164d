// SPDX-License-Identifier: MIT
//
// Causal attention on a batch of two, two stacked heads, and two heads split from one projection; with and without the mask.

#include "golden.hpp"
#include "tinyattn/multi_head_attention.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

constexpr auto batch() { return stack(inputs(), inputs()); }

template <class Attention>
constexpr auto attend_to_batch(std::uint32_t seed) {
  return drawn<Attention>(seed)(batch());
}

template <class Expected>
constexpr void both_are(Check& check, const auto& context, const Expected& expected) {
  check.near(context, stack(expected, expected), tolerance);
}

constexpr Test tests[] = {
    everywhere("causal attention",
               [](Check& check) {
                 const auto context = attend_to_batch<CausalAttention<3, 2, 6>>(reference::causal_attention_seed);
                 both_are(check, context, reference::causal_attention_context);
               }),
    everywhere("causal attention without its mask",
               [](Check& check) {
                 const auto context = attend_to_batch<SelfAttention<3, 2, 6>>(reference::causal_attention_without_its_mask_seed);
                 both_are(check, context, reference::causal_attention_without_its_mask_context);
               }),
    everywhere("two stacked causal heads",
               [](Check& check) {
                 const auto context = attend_to_batch<StackedCausalAttention<3, 2, 6, 2>>(reference::wrapper_seed);
                 both_are(check, context, reference::wrapper_context);
               }),
    everywhere("two heads side by side without their mask",
               [](Check& check) {
                 Mt19937 generator(hidden(reference::wrapper_without_its_mask_seed));
                 const auto first = drawn<SelfAttention<3, 2, 6>>(generator);
                 const auto second = drawn<SelfAttention<3, 2, 6>>(generator);
                 const auto context = concat_columns(first(inputs()), second(inputs()));
                 check.near(context, reference::wrapper_without_its_mask_context, tolerance);
               }),
    everywhere("two split heads with output projection",
               [](Check& check) {
                 using Attention = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 2, .context_length = 6, .num_heads = 2}>;
                 const auto context = attend_to_batch<Attention>(reference::multi_head_seed);
                 both_are(check, context, reference::multi_head_context);
               }),
};

}  // namespace

int main() { return run(tests); }
