// SPDX-License-Identifier: MIT
//
// The finished layers, on a batch of two sentences: one causal head; two heads stacked; two heads that split one projection.
#include "stages.hpp"

namespace journey {
namespace {

using Batch = tinyattn::Tensor<float, 2, num_tokens, d_in>;

void one_head(Report& report, const Batch& batch) {
  tinyattn::CausalAttention<d_in, d_out, num_tokens> ca{};
  initialize(ca, manual_seed(123));
  report.table("context_vecs", "CausalAttention(3, 2)(batch)", "Two equal sentences, two equal results.", ca(batch));

  tinyattn::SelfAttention<d_in, d_out, num_tokens> without_mask{};
  initialize(without_mask, manual_seed(123));
  report.table("context_vecs_without_mask", "the same layer without its mask",
               "Only the last token sees the same as before: its row is the same.", without_mask(batch));
}

void two_stacked_heads(Report& report, const Batch& batch) {
  static tinyattn::StackedCausalAttention<d_in, d_out, num_tokens, 2> mha;
  initialize(mha, manual_seed(123));
  report.table("wrapper", "StackedCausalAttention(3, 2, num_heads=2)(batch)",
               "Two whole heads side by side, four features. Columns 1 and 2 are the head above.", mha(batch));

  tinyattn::Mt19937& generator = manual_seed(123);
  tinyattn::SelfAttention<d_in, d_out, num_tokens> first{};
  tinyattn::SelfAttention<d_in, d_out, num_tokens> second{};
  initialize(first, generator);
  initialize(second, generator);
  report.table("wrapper_without_mask", "concat(first(inputs), second(inputs))", "Two heads without a mask, put together by hand.",
               concat_columns(first(inputs), second(inputs)));
}

void two_split_heads(Report& report, const Batch& batch) {
  constexpr tinyattn::AttentionConfig config = {.d_in = d_in, .d_out = d_out, .context_length = num_tokens, .num_heads = 2};
  using TwoHeads = tinyattn::MultiHeadAttention<config>;
  static TwoHeads mha;
  static TwoHeads::Workspace workspace;
  static tinyattn::Tensor<float, 2, num_tokens, d_out> out;
  initialize(mha, manual_seed(123));
  mha.forward(batch, out, workspace);
  report.table("multi_head", "MultiHeadAttention(3, 2, num_heads=2)(batch)",
               "One set of matrices, split between the heads, and a projection that mixes them again.", out);
}

}  // namespace

void heads(Report& report) {
  report.stage("Heads",
               "   Everything so far in one call, on a batch of two sentences, from seed 123. Several heads\n"
               "   look at the same tokens with different matrices and find different things.");
  const auto batch = stack(inputs, inputs);
  one_head(report, batch);
  two_stacked_heads(report, batch);
  two_split_heads(report, batch);
}

}  // namespace journey
