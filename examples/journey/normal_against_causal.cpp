// SPDX-License-Identifier: MIT
//
// A layer with and without the causal mask: what the mask changes, in numbers and as a picture.
#include "stages.hpp"

namespace journey {
namespace {

using Weights = tinyattn::Matrix<float, num_tokens, num_tokens>;

struct Result {
  tinyattn::Matrix<float, num_tokens, d_out> context;
  Weights weights;
};

template <class Layer>
Result run_from_seed_789() {
  static typename Layer::Workspace workspace;
  tinyattn::Tensor<float, 1, num_tokens, num_tokens> weights_of_heads{};
  Layer layer{};
  Result result{};
  initialize(layer, manual_seed(789));
  layer.forward_with_weights(inputs, result.context, weights_of_heads, workspace);
  for (std::size_t i = 0; i < num_tokens; ++i)
    for (std::size_t j = 0; j < num_tokens; ++j) result.weights(i, j) = weights_of_heads(0, i, j);
  return result;
}

template <class Tensor>
float sum(const Tensor& tensor) {
  float total = 0.0f;
  for (std::size_t i = 0; i < tensor.size(); ++i) total += tensor.data()[i];
  return total;
}

template <class Tensor>
float mean_absolute_difference(const Tensor& a, const Tensor& b) {
  Tensor difference{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float signed_difference = a.data()[i] - b.data()[i];
    difference.data()[i] = signed_difference < 0 ? -signed_difference : signed_difference;
  }
  return sum(difference) / static_cast<float>(a.size());
}

auto row_sums(const Weights& weights) {
  tinyattn::Vector<float, num_tokens> sums{};
  for (std::size_t i = 0; i < num_tokens; ++i) sums(i) = sum(row(weights, i));
  return sums;
}

}  // namespace

void normal_against_causal(Report& report) {
  report.stage("Normal against causal", "   One layer, drawn from seed 789 as in stage 3, once without and once with the mask.");
  const auto normal = run_from_seed_789<tinyattn::SelfAttention<d_in, d_out, num_tokens>>();
  const auto causal = run_from_seed_789<tinyattn::CausalAttention<d_in, d_out, num_tokens>>();
  report.table("normal_weights", "SelfAttention(3, 2), weights", "Every token sees all six.", normal.weights);
  report.table("causal_weights", "CausalAttention(3, 2), weights", "Nobody sees the future.", causal.weights);
  report.same_bits("causal_weights, whose hidden scores were skipped, and those of stage 4, filled with -infinity",
                   causal.weights == softmax(masked_scores_of_self_attention_v2(), one_over_sqrt_d_k));
  report.table("normal_context", "SelfAttention(3, 2)(inputs)", "Nearly the same for every token ...", normal.context);
  report.table("causal_context", "CausalAttention(3, 2)(inputs)", "... which only the last one keeps.", causal.context);
  report.number("mean_absolute_difference", "(normal_context - causal_context).abs().mean()", "What the mask changes, on average.",
                mean_absolute_difference(normal.context, causal.context));
  report.number("upper_triangle", "triu(causal_weights, diagonal=1).sum()", "Exactly 0: the future has no share.",
                sum(triu(causal.weights, 1)));
  report.table("normal_row_sums", "normal_weights.sum(dim=-1)", "Each 1, but for the rounding of the last bit.", row_sums(normal.weights));
  report.table("causal_row_sums", "causal_weights.sum(dim=-1)", "Each 1 too: the past takes what the future may not have.",
               row_sums(causal.weights));
  print_heat_maps(normal.weights, causal.weights);
}

}  // namespace journey
