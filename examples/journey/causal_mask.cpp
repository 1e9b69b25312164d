// SPDX-License-Identifier: MIT
//
// A model that generates one token after another must not attend to later tokens. Three ways to mask these give the same weights.
#include "stages.hpp"

namespace journey {
namespace {

// Computes softmax, sets the weights of later tokens to zero, and divides each row by its sum.
void zero_and_renormalize(Report& report) {
  const auto attn_scores = scores_of_self_attention_v2();
  const auto attn_weights = softmax(attn_scores, one_over_sqrt_d_k);
  const auto masked_simple = tril(attn_weights);
  report.table("mask_simple", "tril(ones(6, 6))", "1 where a token may look: at itself and at what came before.",
               tril(tinyattn::ones<float, num_tokens, num_tokens>()));
  report.table("masked_simple", "attn_weights * mask_simple", "The weights of stage 3 without the future. Rows no longer add up to 1.",
               masked_simple);
  report.table("masked_simple_norm", "masked_simple / masked_simple.sum(dim=-1, keepdim=True)", "Now they do.", normalize(masked_simple));

  const auto halved = softmax(attn_scores, 0.5f / static_cast<float>(d_out));
  report.table("attn_weights_half", "softmax(attn_scores / d_k * 0.5)",
               "PyTorch prints this scaling too, half of 1 / d_k: nearer to one sixth.", halved);
  report.table("masked_simple_norm_half", "the same, masked and normalized", "Compare the second row with the one above.",
               normalize(tril(halved)));
}

// Sets the scores of later tokens to -infinity, whose softmax is 0: nothing is left to renormalize.
void fill_with_minus_infinity(Report& report) {
  const auto masked = masked_scores_of_self_attention_v2();
  report.table("masked", "attn_scores.masked_fill(triu(ones(6, 6), diagonal=1), -inf)", "The triangle above the diagonal is the future.",
               masked);
  report.table("attn_weights", "softmax(masked / d_k ** 0.5)", "The same weights as masked_simple_norm, in one step.",
               softmax(masked, one_over_sqrt_d_k));
}

// Adds a mask to the scores: the same for all heads and all elements of a batch.
void add_a_mask(Report& report) {
  report.table("mask", "triu(full((4, 4), -inf), diagonal=1)", "A mask to add: 0 changes nothing, -inf hides.", tinyattn::causal_mask<4>());

  constexpr tinyattn::AttentionConfig config = {
      .d_in = d_in, .d_out = d_out, .context_length = num_tokens, .num_heads = 2, .causal = false};
  using TwoHeads = tinyattn::MultiHeadAttention<config>;
  static TwoHeads layer;
  static TwoHeads::Workspace workspace;
  initialize(layer, manual_seed(123));
  const auto batch = stack(inputs, inputs);
  static tinyattn::Tensor<float, 2, num_tokens, d_out> out;
  layer.forward(batch, tinyattn::AdditiveMask{tinyattn::causal_mask<num_tokens>()}, out, workspace);
  report.table("broadcast", "a batch of two sentences, two heads, one 6 x 6 mask",
               "The mask serves both heads of both sentences. Stage 6 gets this result from a causal layer.", out);
}

}  // namespace

void causal_mask(Report& report) {
  report.stage("Causal mask",
               "   A model that writes must not see what it has not written yet: token i attends to\n"
               "   tokens 0 to i only. The library knows this as Causal{} and skips the hidden scores.");
  zero_and_renormalize(report);
  fill_with_minus_infinity(report);
  add_a_mask(report);
}

}  // namespace journey
