// SPDX-License-Identifier: MIT
//
// attention(q, k, v) by itself: output and weights, of one query and of many.

#include "golden.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/softmax.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

constexpr auto queries() { return from_torch(hidden(reference::v2_query_weight_out_in))(inputs()); }
constexpr auto keys() { return from_torch(hidden(reference::v2_key_weight_out_in))(inputs()); }
constexpr auto values() { return from_torch(hidden(reference::v2_value_weight_out_in))(inputs()); }

constexpr Test tests[] = {
    everywhere("fruit asks apple, banana and car",
               [](Check& check) {
                 const auto fruit = hidden(reference::fruit_q);
                 const auto things = hidden(reference::fruit_k);
                 const auto scores = matmul_transposed(fruit, things);
                 check.near(scores, reference::fruit_scores, tolerance);
                 check.near(softmax(scores), reference::fruit_weights_unscaled, tolerance);
                 check.near(scaled_dot_product_attention(fruit, things, hidden(reference::fruit_v)), reference::fruit_context, tolerance);
               }),
    everywhere("output and weights of fruit",
               [](Check& check) {
                 Matrix<float, 1, 4> context{};
                 Matrix<float, 1, 3> weights{};
                 scaled_dot_product_attention(hidden(reference::fruit_q), hidden(reference::fruit_k), hidden(reference::fruit_v), NoMask{},
                                              context, weights);
                 check.near(context, reference::fruit_context, tolerance);
                 check.near(weights, reference::fruit_weights, tolerance);
               }),
    everywhere("output and weights of six tokens",
               [](Check& check) {
                 Matrix<float, 6, 2> context{};
                 Matrix<float, 6, 6> weights{};
                 scaled_dot_product_attention(queries(), keys(), values(), NoMask{}, context, weights);
                 check.near(context, reference::v2_context, tolerance);
                 check.near(weights, reference::v2_weights, tolerance);
               }),
    everywhere("causal",
               [](Check& check) {
                 Matrix<float, 6, 2> context{};
                 Matrix<float, 6, 6> weights{};
                 scaled_dot_product_attention(queries(), keys(), values(), Causal{}, context, weights);
                 check.near(weights, reference::causal_weights, tolerance);
                 check.near(context, matmul(reference::causal_weights, values()), tolerance);
               }),
    everywhere("values wider than keys",
               [](Check& check) {
                 const Matrix<float, 6, 3> context = scaled_dot_product_attention(queries(), keys(), inputs());
                 check.near(context, matmul(reference::v2_weights, inputs()), tolerance);
               }),
    everywhere("values narrower than keys",
               [](Check& check) {
                 const auto value = hidden(reference::fruit_v);
                 const Matrix<float, 1, 3> context =
                     scaled_dot_product_attention(hidden(reference::fruit_q), hidden(reference::fruit_k), columns<3>(value, 0));
                 for (std::size_t j = 0; j < 3; ++j) check.near(context(0, j), reference::fruit_context(0, j), tolerance);
               }),
};

}  // namespace

int main() { return run(tests); }
