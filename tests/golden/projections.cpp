// SPDX-License-Identifier: MIT
//
// Attention step by step: of the tokens themselves, of projections by three matrices from torch.rand, and of Linear layers initialized as
// by torch.nn.Linear; then in one call.

#include "golden.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/softmax.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

constexpr auto token_2() { return row(inputs(), 1); }

// Queries, keys and values of the worked example.
constexpr auto queries() { return from_torch(opaque(reference::v2_query_weight_out_in))(inputs()); }
constexpr auto keys() { return from_torch(opaque(reference::v2_key_weight_out_in))(inputs()); }
constexpr auto values() { return from_torch(opaque(reference::v2_value_weight_out_in))(inputs()); }

template <std::size_t Tokens, std::size_t SourceTokens, std::size_t ValueDim>
constexpr void check_attention(Check& check, const Matrix<float, Tokens, SourceTokens>& weights,
                               const Matrix<float, Tokens, ValueDim>& context, const auto& q, const auto& k, const auto& v,
                               const auto& mask) {
  Matrix<float, Tokens, ValueDim> out{};
  Matrix<float, Tokens, SourceTokens> weights_out{};
  scaled_dot_product_attention(q, k, v, mask, out, weights_out);
  check.near(out, context, tolerance);
  check.near(weights_out, weights, tolerance);
}

constexpr Test tests[] = {
    everywhere("token 2: scores by dot products, weights by their sum, naive softmax and softmax",
               [](Check& check) {
                 const auto scores = matmul_transposed(token_2(), inputs());
                 const auto weights = row(reference::simple_weights, 1);
                 for (std::size_t i = 0; i < 6; ++i)
                   check.near(dot(token_2(), row(inputs(), i)), reference::simple_scores(1, i), tolerance);
                 check.near(scores, row(reference::simple_scores, 1), tolerance);
                 check.near(normalize(scores), reference::simple_scores_of_token_2_normalized_by_sum, tolerance);
                 check.near(softmax_naive(scores), weights, tolerance);
                 check.near(softmax(scores), weights, tolerance);
                 check.near(matmul(softmax(scores), inputs()), row(reference::simple_context, 1), tolerance);
               }),
    everywhere("all tokens: scores, weights and contexts",
               [](Check& check) {
                 const auto scores = matmul_transposed(inputs(), inputs());
                 check.near(scores, reference::simple_scores, tolerance);
                 check.near(matmul(inputs(), transpose(inputs())), reference::simple_scores, tolerance);
                 check.near(softmax(scores), reference::simple_weights, tolerance);
                 check.near(matmul(softmax(scores), inputs()), reference::simple_context, tolerance);
               }),
    everywhere("three matrices are drawn bit for bit, and make queries, keys and values",
               [](Check& check) {
                 Mt19937 generator(opaque(reference::v1_seed));
                 const auto query = rand<3, 2>(generator), key = rand<3, 2>(generator), value = rand<3, 2>(generator);
                 check.same_bits(query, reference::v1_w_query);
                 check.same_bits(key, reference::v1_w_key);
                 check.same_bits(value, reference::v1_w_value);
                 const auto k = matmul(inputs(), key), v = matmul(inputs(), value);
                 check.near(k, reference::v1_keys, tolerance);
                 check.near(v, reference::v1_values, tolerance);
                 check.near(matmul(token_2(), query), reference::v1_query_of_token_2, tolerance);
                 const auto scores = matmul_transposed(opaque(reference::v1_query_of_token_2), k);
                 check.near(scores, reference::v1_scores_of_token_2, tolerance);
                 check.near(softmax(scores, scale), reference::v1_weights_of_token_2, tolerance);
                 check.near(matmul(softmax(scores, scale), v), row(reference::v1_context, 1), tolerance);
                 check.near(scaled_dot_product_attention(matmul(inputs(), query), k, v), reference::v1_context, tolerance);
               }),
    everywhere("three Linear layers are drawn bit for bit, and one call does all",
               [](Check& check) {
                 const auto attention = drawn<SelfAttention<3, 2, 6>>(reference::v2_seed);
                 check.same_bits(attention.query.weight, transpose(reference::v2_query_weight_out_in));
                 check.same_bits(attention.key.weight, from_torch(reference::v2_key_weight_out_in).weight);
                 check.same_bits(attention.value.weight, from_torch(reference::v2_value_weight_out_in).weight);
                 check.near(attention(inputs()), reference::v2_context, tolerance);
                 const auto scores = matmul_transposed(attention.query(inputs()), attention.key(inputs()));
                 check.near(scores, reference::v2_scores, tolerance);
                 check.near(softmax(scores, scale), reference::v2_weights, tolerance);
                 check.near(matmul(softmax(scores, scale), attention.value(inputs())), reference::v2_context, tolerance);
               }),
    everywhere("a bias is drawn after its weight and moves every output",
               [](Check& check) {
                 const auto without = drawn<Linear<3, 2, false>>(reference::v2_seed);
                 const auto with = drawn<Linear<3, 2>>(reference::v2_seed);
                 check.same_bits(with.weight, without.weight);
                 // Here the bias takes the random numbers that the key's weight takes in the layers without bias.
                 check.same_bits(with.bias, vector<float>({reference::v2_key_weight_out_in(0, 0), reference::v2_key_weight_out_in(0, 1)}));
                 const auto moved = with(inputs());
                 for (std::size_t i = 0; i < 6; ++i) check.near(row(moved, i), add(without(row(inputs(), i)), with.bias), tolerance);
               }),
    everywhere("fruit asks apple, banana and car",
               [](Check& check) {
                 const auto fruit = opaque(reference::fruit_q);
                 const auto things = opaque(reference::fruit_k);
                 const auto value = opaque(reference::fruit_v);
                 const auto scores = matmul_transposed(fruit, things);
                 check.near(scores, reference::fruit_scores, tolerance);
                 check.near(softmax(scores), reference::fruit_weights_unscaled, tolerance);
                 check_attention(check, reference::fruit_weights, reference::fruit_context, fruit, things, value, NoMask{});
               }),
    everywhere("output and weights of six tokens, without a mask and causal",
               [](Check& check) {
                 check_attention(check, reference::v2_weights, reference::v2_context, queries(), keys(), values(), NoMask{});
                 check_attention(check, reference::causal_weights, matmul(reference::causal_weights, values()), queries(), keys(), values(),
                                 Causal{});
               }),
    everywhere("values wider and narrower than keys",
               [](Check& check) {
                 check_attention(check, reference::v2_weights, matmul(reference::v2_weights, inputs()), queries(), keys(), inputs(),
                                 NoMask{});
                 const auto value = opaque(reference::fruit_v);
                 const auto narrow = columns<3>(value, 0);
                 const auto context = scaled_dot_product_attention(opaque(reference::fruit_q), opaque(reference::fruit_k), narrow);
                 for (std::size_t j = 0; j < 3; ++j) check.near(context(0, j), reference::fruit_context(0, j), tolerance);
               }),
};

}  // namespace

int main() { return run(tests); }
