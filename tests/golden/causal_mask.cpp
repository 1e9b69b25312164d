// SPDX-License-Identifier: MIT
//
// No token attends to a later one: with weights cut by tril and normalized again, or with scores set to -infinity before softmax; and which
// weights dropout keeps.

#include <limits>

#include "golden.hpp"
#include "tinyattn/dropout.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/softmax.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

constexpr auto scores() { return opaque(reference::v2_scores); }

constexpr Test tests[] = {
    everywhere("tril of the weights, normalized again",
               [](Check& check) {
                 check.same_bits(tril(ones<float, 6, 6>()), reference::causal_tril_of_ones);
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
    everywhere("triu marks what becomes -infinity; softmax needs no second normalization",
               [](Check& check) {
                 const auto masked = masked_fill(scores(), triu(ones<bool, 6, 6>(), 1), -std::numeric_limits<float>::infinity());
                 check.same_bits(masked, reference::causal_masked_scores);
                 check.near(softmax(masked, scale), reference::causal_weights, tolerance);
                 check.near(softmax(masked, scale), reference::causal_renormalized, tolerance);
               }),
    everywhere("one additive mask serves every head and batch item",
               [](Check& check) {
                 check.same_bits(causal_mask<4>(), reference::causal_additive_mask_4);
                 using Attention =
                     MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 2, .context_length = 6, .num_heads = 2, .causal = false}>;
                 const auto attention = drawn<Attention>(reference::multi_head_seed);
                 Tensor<float, 2, 6, 2> out{};
                 Attention::Workspace workspace{};
                 attention.forward(stack(inputs(), inputs()), AdditiveMask{causal_mask<6>()}, out, workspace);
                 check.near(out, stack(reference::multi_head_context, reference::multi_head_context), tolerance);
               }),
    everywhere("dropout of ones and of the causal weights: the elements that PyTorch drops",
               [](Check& check) {
                 Mt19937 of_ones(opaque(reference::dropout_seed)), of_weights(opaque(reference::dropout_seed));
                 check.same_bits(dropout(opaque(ones<float, 6, 6>()), reference::dropout_rate, of_ones), reference::dropout_of_ones);
                 check.same_bits(dropout(opaque(reference::causal_weights), reference::dropout_rate, of_weights),
                                 reference::dropout_of_causal_weights);
               }),
};

}  // namespace

int main() { return run(tests); }
