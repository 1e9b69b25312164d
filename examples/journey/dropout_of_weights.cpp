// SPDX-License-Identifier: MIT
//
// In training, some of the attention weights are dropped at random, so that no token relies on a single other one.
#include "stages.hpp"

namespace journey {

void dropout_of_weights(Report& report) {
  report.stage("Dropout",
               "   In training, half of the weights (rate 0.5) are dropped at random and the rest doubled,\n"
               "   so that their sum stays the same on average. Seed 123 gives the mask that PyTorch draws\n"
               "   on a CPU (builds with MKL draw another).");
  report.table("dropout(example)", "dropout(ones(6, 6), 0.5)", "2 was kept, 0 was dropped.",
               dropout(tinyattn::ones<float, num_tokens, num_tokens>(), 0.5, manual_seed(123)));

  const auto attn_weights = softmax(masked_scores_of_self_attention_v2(), one_over_sqrt_d_k);
  report.table("dropout(attn_weights)", "dropout(attn_weights, 0.5)",
               "The causal weights of stage 4 under the same draws. The second token loses all it had.",
               dropout(attn_weights, 0.5, manual_seed(123)));
}

}  // namespace journey
