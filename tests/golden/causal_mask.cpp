// SPDX-License-Identifier: MIT
//
// No token sees a later one: weights cut by tril and normalized again, or scores set to -infinity before softmax.

#include <limits>

#include "golden.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/softmax.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

constexpr auto scores() { return hidden(reference::v2_scores); }
constexpr auto masked_scores() { return masked_fill(scores(), triu(ones<bool, 6, 6>(), 1), minus_infinity); }

constexpr Test tests[] = {
    everywhere("tril of ones is the mask that keeps",
               [](Check& check) { check.same_bits(tril(ones<float, 6, 6>()), reference::causal_tril_of_ones); }),
    everywhere("tril of the weights, normalized again",
               [](Check& check) {
                 const auto cut = tril(softmax(scores(), scale));
                 check.near(cut, reference::causal_weights_times_tril, tolerance);
                 check.near(normalize(cut), reference::causal_renormalized, tolerance);
               }),
    everywhere("the same when scores are scaled by half over d_k",
               [](Check& check) {
                 const auto weights = softmax(scores(), 0.5f / 2.0f);
                 check.near(weights, reference::causal_scaled_by_half_over_d_k, tolerance);
                 check.near(normalize(tril(weights)), reference::causal_scaled_by_half_over_d_k_renormalized, tolerance);
               }),
    everywhere("triu marks what becomes -infinity",
               [](Check& check) { check.same_bits(masked_scores(), reference::causal_masked_scores); }),
    everywhere("softmax of masked scores needs no second normalization",
               [](Check& check) {
                 const auto weights = softmax(masked_scores(), scale);
                 check.near(weights, reference::causal_weights, tolerance);
                 check.near(weights, reference::causal_renormalized, tolerance);
               }),
    everywhere("the additive mask", [](Check& check) { check.same_bits(causal_mask<4>(), reference::causal_additive_mask_4); }),
    everywhere("one additive mask serves every head and batch item",
               [](Check& check) {
                 using Attention =
                     MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 2, .context_length = 6, .num_heads = 2, .causal = false}>;
                 const auto attention = drawn<Attention>(reference::multi_head_seed);
                 Tensor<float, 2, 6, 2> out{};
                 Attention::Workspace workspace{};
                 attention.forward(stack(inputs(), inputs()), AdditiveMask{causal_mask<6>()}, out, workspace);
                 check.near(out, stack(reference::multi_head_context, reference::multi_head_context), tolerance);
               }),
};

}  // namespace

int main() { return run(tests); }
