// SPDX-License-Identifier: MIT
//
// Queries, keys and values from Linear layers, drawn as torch.nn.Linear draws its own after torch.manual_seed(789).

#include "tinyattn/linear.hpp"

#include "golden.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/softmax.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

struct Projections {
  Linear<3, 2, false> query;
  Linear<3, 2, false> key;
  Linear<3, 2, false> value;
};

constexpr Projections drawn_projections() {
  Mt19937 generator(hidden(reference::v2_seed));
  Projections projections{};
  initialize(projections.query, generator);
  initialize(projections.key, generator);
  initialize(projections.value, generator);
  return projections;
}

constexpr Test tests[] = {
    everywhere("three layers are drawn bit for bit",
               [](Check& check) {
                 const auto drawn = drawn_projections();
                 check.same_bits(drawn.query.weight, from_torch(reference::v2_query_weight_out_in).weight);
                 check.same_bits(drawn.key.weight, from_torch(reference::v2_key_weight_out_in).weight);
                 check.same_bits(drawn.value.weight, from_torch(reference::v2_value_weight_out_in).weight);
               }),
    everywhere("a weight from PyTorch stands transposed",
               [](Check& check) {
                 check.same_bits(from_torch(reference::v2_query_weight_out_in).weight, transpose(reference::v2_query_weight_out_in));
               }),
    everywhere("a bias is drawn after its weight and moves every output",
               [](Check& check) {
                 const auto without = drawn<Linear<3, 2, false>>(reference::v2_seed);
                 auto with = drawn<Linear<3, 2>>(reference::v2_seed);
                 check.same_bits(with.weight, without.weight);
                 // Where the key's weight begins in the draws without bias, the bias stands here.
                 check.same_bits(with.bias, vector<float>({reference::v2_key_weight_out_in(0, 0), reference::v2_key_weight_out_in(0, 1)}));
                 const auto y = without(inputs());
                 const auto moved = with(inputs());
                 for (std::size_t i = 0; i < 6; ++i)
                   for (std::size_t j = 0; j < 2; ++j) check.near(moved(i, j), y(i, j) + with.bias(j), tolerance);
               }),
    everywhere("scores, weights and contexts",
               [](Check& check) {
                 const auto projections = drawn_projections();
                 const auto query = projections.query(inputs());
                 const auto key = projections.key(inputs());
                 const auto value = projections.value(inputs());
                 const auto scores = matmul_transposed(query, key);
                 const auto weights = softmax(scores, scale);
                 check.near(scores, reference::v2_scores, tolerance);
                 check.near(weights, reference::v2_weights, tolerance);
                 check.near(matmul(weights, value), reference::v2_context, tolerance);
                 check.near(scaled_dot_product_attention(query, key, value), reference::v2_context, tolerance);
               }),
    everywhere("self-attention is the same in one call",
               [](Check& check) {
                 const auto attention = drawn<SelfAttention<3, 2, 6>>(reference::v2_seed);
                 check.near(attention(inputs()), reference::v2_context, tolerance);
               }),
};

}  // namespace

int main() { return run(tests); }
