// SPDX-License-Identifier: MIT
//
// Attention without trainable weights: each token attends to all tokens, itself included, and most to those similar to it.
#include "stages.hpp"

namespace journey {

void simple_attention(Report& report) {
  report.stage("Simple attention, nothing to train",
               "   Each token is three numbers. Token 2, \"journey\", asks all six tokens how much they\n"
               "   are like it, turns the answers into shares, and mixes the tokens by these shares.");
  report.table("inputs", "six tokens, one per row", "Your, journey, starts, with, one, step.", inputs);

  const auto query = row(inputs, 1);
  tinyattn::Vector<float, num_tokens> attn_scores_2{};
  for (std::size_t i = 0; i < num_tokens; ++i) attn_scores_2(i) = dot(row(inputs, i), query);
  report.table("attn_scores_2", "dot(inputs[i], inputs[1])", "A large score: alike. Itself and its neighbour \"starts\" score highest.",
               attn_scores_2);

  report.table("attn_weights_2_tmp", "attn_scores_2 / attn_scores_2.sum()", "Shares that add up to 1, the simplest way.",
               normalize(attn_scores_2));
  report.table("attn_weights_2_naive", "exp(attn_scores_2) / exp(attn_scores_2).sum()",
               "Softmax as it is defined: never negative, but exp overflows for scores above 88.", softmax_naive(attn_scores_2));
  const auto attn_weights_2 = softmax(attn_scores_2);
  report.table("attn_weights_2", "softmax(attn_scores_2)", "The same shares, safe for any score: the largest is subtracted first.",
               attn_weights_2);
  const auto context_vec_2 = matmul(attn_weights_2, inputs);
  report.table("context_vec_2", "attn_weights_2 @ inputs", "Token 2 with its context mixed in: 24 % of itself, 23 % of \"starts\", ...",
               context_vec_2);

  report.note("The same for all six tokens at once:");
  const auto attn_scores = matmul_transposed(inputs, inputs);
  report.table("attn_scores", "inputs @ inputs.T", "Row i: the scores of token i. The matrix is its own mirror image.", attn_scores);
  const auto attn_weights = softmax(attn_scores);
  report.table("attn_weights", "softmax(attn_scores, dim=-1)", "Each row adds up to 1. No longer a mirror image: each row has its own sum.",
               attn_weights);
  const auto all_context_vecs = matmul(attn_weights, inputs);
  report.table("all_context_vecs", "attn_weights @ inputs", "The second row is context_vec_2.", all_context_vecs);
  report.same_bits("The second row and context_vec_2", row(all_context_vecs, 1) == context_vec_2);
}

}  // namespace journey
