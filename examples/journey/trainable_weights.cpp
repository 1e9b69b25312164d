// SPDX-License-Identifier: MIT
//
// Three trainable matrices map each token to a query (what it looks for), a key (what it is found by) and a value (what it passes on).
#include "stages.hpp"

namespace journey {

void trainable_weights(Report& report) {
  report.stage("Trainable weights",
               "   Three matrices, drawn from seed 123, turn each token into a query (what it looks for),\n"
               "   a key (what it is found by) and a value (what it passes on).");
  tinyattn::Mt19937& generator = manual_seed(123);
  const auto w_query = tinyattn::rand<d_in, d_out>(generator);
  const auto w_key = tinyattn::rand<d_in, d_out>(generator);
  const auto w_value = tinyattn::rand<d_in, d_out>(generator);
  report.table("W_query", "torch.rand(3, 2)", "The same draws as PyTorch's after torch.manual_seed(123).", w_query);
  report.table("W_key", "torch.rand(3, 2)", "The next six draws.", w_key);
  report.table("W_value", "torch.rand(3, 2)", "And the next.", w_value);

  const auto queries = matmul(inputs, w_query);
  const auto keys = matmul(inputs, w_key);
  const auto values = matmul(inputs, w_value);
  report.table("queries", "inputs @ W_query", "From three features per token to two.", queries);
  report.table("keys", "inputs @ W_key", "One key per token ...", keys);
  report.table("values", "inputs @ W_value", "... and one value.", values);

  const auto query_2 = row(queries, 1);
  report.table("query_2", "inputs[1] @ W_query", "What \"journey\" looks for.", query_2);
  report.number("attn_score_22", "dot(query_2, keys[1])", "How well its own key answers.", dot(query_2, row(keys, 1)));
  const auto attn_scores_2 = matmul_transposed(query_2, keys);
  report.table("attn_scores_2", "query_2 @ keys.T", "All six answers.", attn_scores_2);
  const auto attn_weights_2 = softmax(attn_scores_2, one_over_sqrt_d_k);
  report.table("attn_weights_2", "softmax(attn_scores_2 / d_k ** 0.5)",
               "Divided by the root of the key's size, 2: long keys would make large scores and one-sided shares.", attn_weights_2);
  report.table("context_vec_2", "attn_weights_2 @ values", "A mixture of values, no longer of the tokens themselves.",
               matmul(attn_weights_2, values));

  const auto attn_weights = softmax(matmul_transposed(queries, keys), one_over_sqrt_d_k);
  report.table("context_vec", "softmax(queries @ keys.T / d_k ** 0.5) @ values",
               "All six at once: PyTorch prints this for SelfAttention_v1. The second row is context_vec_2.", matmul(attn_weights, values));
}

}  // namespace journey
