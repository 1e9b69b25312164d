// SPDX-License-Identifier: MIT
//
// The three matrices as Linear layers, with the random initial weights of torch.nn.Linear; and all of it as one type, SelfAttention.
#include "stages.hpp"

namespace journey {

void linear_layers(Report& report) {
  report.stage("Linear layers",
               "   The same with layers in place of matrices, drawn from seed 789 between -1/sqrt(d_in)\n"
               "   and 1/sqrt(d_in) as torch.nn.Linear draws them: PyTorch prints this for SelfAttention_v2.");
  const auto sa_v2 = self_attention_v2();
  report.table("W_query.weight", "torch.nn.Linear(3, 2, bias=False).weight", "PyTorch keeps it transposed: a row for each output.",
               transpose(sa_v2.query.weight));
  report.table("W_key.weight", "the next Linear", "The next six draws.", transpose(sa_v2.key.weight));
  report.table("W_value.weight", "the next Linear", "And the next.", transpose(sa_v2.value.weight));

  const auto queries = sa_v2.query(inputs);
  const auto keys = sa_v2.key(inputs);
  const auto values = sa_v2.value(inputs);
  const auto attn_scores = matmul_transposed(queries, keys);
  report.table("attn_scores", "queries @ keys.T", "Smaller than before: these weights are centred on 0.", attn_scores);
  const auto attn_weights = softmax(attn_scores, one_over_sqrt_d_k);
  report.table("attn_weights", "softmax(attn_scores / d_k ** 0.5)", "Small differences: every share is near one sixth, 0.1667.",
               attn_weights);
  const auto context_vec = matmul(attn_weights, values);
  report.table("context_vec", "attn_weights @ values", "What sa_v2(inputs) returns in one call.", context_vec);
  report.same_bits("sa_v2(inputs) and the steps above", sa_v2(inputs) == context_vec);

  tinyattn::Linear<d_in, d_out> with_bias{};
  initialize(with_bias, manual_seed(789));
  report.table("bias", "torch.nn.Linear(3, 2).bias", "A bias is optional: drawn after the weight, added once per row.", with_bias.bias);
  print("\nsizeof(Linear) ", sizeof(with_bias), " bytes, without its bias ", sizeof(sa_v2.query), "\n");
}

}  // namespace journey
