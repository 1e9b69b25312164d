// SPDX-License-Identifier: MIT
//
// Queries, keys and values from three 3x2 matrices that torch.rand draws after torch.manual_seed(123).

#include "golden.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/softmax.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

struct Drawn {
  Matrix<float, 3, 2> query;
  Matrix<float, 3, 2> key;
  Matrix<float, 3, 2> value;
};

constexpr Drawn drawn_weights() {
  Mt19937 generator(hidden(reference::v1_seed));
  const auto query = rand<3, 2>(generator);
  const auto key = rand<3, 2>(generator);
  const auto value = rand<3, 2>(generator);
  return {query, key, value};
}

constexpr Test tests[] = {
    everywhere("three matrices are drawn bit for bit",
               [](Check& check) {
                 const auto weights = drawn_weights();
                 check.same_bits(weights.query, reference::v1_w_query);
                 check.same_bits(weights.key, reference::v1_w_key);
                 check.same_bits(weights.value, reference::v1_w_value);
               }),
    everywhere("query of token 2, keys and values",
               [](Check& check) {
                 const auto weights = drawn_weights();
                 check.near(matmul(row(inputs(), 1), weights.query), reference::v1_query_of_token_2, tolerance);
                 check.near(matmul(inputs(), weights.key), reference::v1_keys, tolerance);
                 check.near(matmul(inputs(), weights.value), reference::v1_values, tolerance);
               }),
    everywhere("scores, weights and context of token 2",
               [](Check& check) {
                 const auto scores = matmul_transposed(hidden(reference::v1_query_of_token_2), hidden(reference::v1_keys));
                 const auto weights = softmax(scores, scale);
                 check.near(scores, reference::v1_scores_of_token_2, tolerance);
                 check.near(weights, reference::v1_weights_of_token_2, tolerance);
                 check.near(matmul(weights, hidden(reference::v1_values)), row(reference::v1_context, 1), tolerance);
               }),
    everywhere("contexts of all tokens",
               [](Check& check) {
                 const auto weights = drawn_weights();
                 const auto query = matmul(inputs(), weights.query);
                 const auto key = matmul(inputs(), weights.key);
                 const auto value = matmul(inputs(), weights.value);
                 check.near(scaled_dot_product_attention(query, key, value), reference::v1_context, tolerance);
               }),
};

}  // namespace

int main() { return run(tests); }
