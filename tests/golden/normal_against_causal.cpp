// SPDX-License-Identifier: MIT
//
// The same weights with and without the mask: how far the outputs are apart, and what the weights sum to.

#include "golden.hpp"
#include "tinyattn/multi_head_attention.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

struct Result {
  Matrix<float, 6, 2> context{};
  Tensor<float, 1, 6, 6> weights{};
};

template <class Attention>
constexpr Result attend() {
  const auto attention = drawn<Attention>(reference::causal_attention_seed);
  typename Attention::Workspace workspace{};
  Result result;
  attention.forward_with_weights(inputs(), result.context, result.weights, workspace);
  return result;
}

constexpr float absolute(float x) { return x < 0.0f ? -x : x; }

template <class Context>
constexpr float mean_absolute_difference(const Context& a, const Context& b) {
  float sum = 0.0f;
  for (std::size_t i = 0; i < a.size(); ++i) sum += absolute(a.data()[i] - b.data()[i]);
  return sum / static_cast<float>(a.size());
}

constexpr float sum_of_row(const Tensor<float, 1, 6, 6>& weights, std::size_t i) {
  float sum = 0.0f;
  for (std::size_t j = 0; j < 6; ++j) sum += weights(0, i, j);
  return sum;
}

constexpr float sum_above_diagonal(const Tensor<float, 1, 6, 6>& weights) {
  float sum = 0.0f;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = i + 1; j < 6; ++j) sum += absolute(weights(0, i, j));
  return sum;
}

constexpr Test tests[] = {
    everywhere("mean absolute difference of the outputs",
               [](Check& check) {
                 const auto normal = attend<SelfAttention<3, 2, 6>>().context;
                 const auto causal = attend<CausalAttention<3, 2, 6>>().context;
                 const auto& recorded_normal = reference::causal_attention_without_its_mask_context;
                 const auto& recorded_causal = reference::causal_attention_context;
                 check.near(mean_absolute_difference(normal, causal), mean_absolute_difference(recorded_normal, recorded_causal),
                            tolerance);
                 check.near(mean_absolute_difference(normal, causal), 0.0676f, 5e-5f);
               }),
    everywhere("causal weights above the diagonal are zero",
               [](Check& check) {
                 check.equal(sum_above_diagonal(attend<CausalAttention<3, 2, 6>>().weights), 0.0f);
                 check.that(sum_above_diagonal(attend<SelfAttention<3, 2, 6>>().weights) > 1.0f);
               }),
    everywhere("every row of weights sums to one",
               [](Check& check) {
                 const auto normal = attend<SelfAttention<3, 2, 6>>().weights;
                 const auto causal = attend<CausalAttention<3, 2, 6>>().weights;
                 for (std::size_t i = 0; i < 6; ++i) {
                   check.near(sum_of_row(normal, i), 1.0f, tolerance);
                   check.near(sum_of_row(causal, i), 1.0f, tolerance);
                 }
               }),
};

}  // namespace

int main() { return run(tests); }
