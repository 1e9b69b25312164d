// SPDX-License-Identifier: MIT
//
// Attention without trainable weights: a score is the dot product of two tokens.

#include "golden.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/softmax.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

constexpr auto token_2() { return row(inputs(), 1); }
constexpr auto scores_of_token_2() { return matmul_transposed(token_2(), inputs()); }
constexpr auto weights_of_token_2 = row(reference::simple_weights, 1);

constexpr Test tests[] = {
    everywhere("token 2 scores each token by a dot product",
               [](Check& check) {
                 for (std::size_t i = 0; i < 6; ++i)
                   check.near(dot(token_2(), row(inputs(), i)), reference::simple_scores(1, i), tolerance);
                 check.near(scores_of_token_2(), row(reference::simple_scores, 1), tolerance);
               }),
    everywhere(
        "weights of token 2 by the sum of its scores",
        [](Check& check) { check.near(normalize(scores_of_token_2()), reference::simple_scores_of_token_2_normalized_by_sum, tolerance); }),
    everywhere("weights of token 2 by naive softmax",
               [](Check& check) { check.near(softmax_naive(scores_of_token_2()), weights_of_token_2, tolerance); }),
    everywhere("weights of token 2 by softmax",
               [](Check& check) { check.near(softmax(scores_of_token_2()), weights_of_token_2, tolerance); }),
    everywhere("context of token 2",
               [](Check& check) {
                 const auto context = matmul(softmax(scores_of_token_2()), inputs());
                 check.near(context, row(reference::simple_context, 1), tolerance);
               }),
    everywhere("scores, weights and contexts of all tokens",
               [](Check& check) {
                 const auto scores = matmul_transposed(inputs(), inputs());
                 const auto weights = softmax(scores);
                 check.near(scores, reference::simple_scores, tolerance);
                 check.near(matmul(inputs(), transpose(inputs())), reference::simple_scores, tolerance);
                 check.near(weights, reference::simple_weights, tolerance);
                 check.near(matmul(weights, inputs()), reference::simple_context, tolerance);
               }),
};

}  // namespace

int main() { return run(tests); }
