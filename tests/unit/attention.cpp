// SPDX-License-Identifier: MIT
//
// Scaled dot-product attention in each of its forms, against plain loops bit for bit. What masks do is in attention_masks.cpp,
// and shapes of all sizes are in attention_shapes.cpp.
#include "tinyattn/attention.hpp"

#include <type_traits>

#include "plain.hpp"
#include "support/check.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr auto query = numbers<Matrix<float, 5, 4>>(1);
constexpr auto key = numbers<Matrix<float, 7, 4>>(2);
constexpr auto value = numbers<Matrix<float, 7, 3>>(3);

constexpr Test tests[] = {
    everywhere("a query of zeros takes the mean of all values",
               [](Check& check) {
                 const auto out = scaled_dot_product_attention(hidden(zeros<float, 1, 2>()), matrix<float>({{5.0f, 1.0f}, {-3.0f, 2.0f}}),
                                                               matrix<float>({{1.0f, 10.0f, -4.0f}, {3.0f, 20.0f, 4.0f}}));
                 check.same_bits(out, matrix<float>({{2.0f, 15.0f, 0.0f}}));
               }),
    everywhere("scores are divided by the root of d_k",
               [](Check& check) {
                 // d_k = 4: scores 2 and 0 become 1 and 0, so the weights are e / (e + 1) and 1 / (e + 1).
                 Matrix<float, 1, 2> weights{};
                 Matrix<float, 1, 1> out{};
                 scaled_dot_product_attention(hidden(matrix<float>({{2.0f, 0.0f, 0.0f, 0.0f}})),
                                              matrix<float>({{1.0f, 0.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 1.0f, 1.0f}}),
                                              matrix<float>({{1.0f}, {0.0f}}), NoMask{}, out, weights);
                 check.near(weights, matrix<float>({{0.731058579f, 0.268941421f}}), 1e-7f);
                 check.near(out, matrix<float>({{0.731058579f}}), 1e-7f);
               }),
    everywhere("the same bits as plain loops, d_v other than d_k",
               [](Check& check) {
                 const auto plain = plain_attention(query, key, value, sees_everything);
                 check.same_bits(scaled_dot_product_attention(hidden(query), key, value), plain.context);
                 check.same_bits(scaled_dot_product_attention(hidden(query), key, value, NoMask{}), plain.context);
                 check.same_bits(scaled_dot_product_attention(hidden(query), key, value, Causal{}),
                                 plain_attention(query, key, value, sees_the_past).context);
               }),
    everywhere("of two keys the first query sees one",
               [](Check& check) {
                 const auto q = numbers<Matrix<float, 2, 3>>(7);
                 const auto k = numbers<Matrix<float, 2, 3>>(8);
                 const auto v = numbers<Matrix<float, 2, 1>>(9);
                 check.same_bits(scaled_dot_product_attention(hidden(q), k, v, Causal{}), plain_attention(q, k, v, sees_the_past).context);
               }),
    everywhere("output and weights last, and nothing beside them",
               [](Check& check) {
                 const auto plain = plain_attention(query, key, value, sees_the_past);
                 Guarded<Matrix<float, 5, 3>> out;
                 Guarded<Matrix<float, 5, 7>> weights;
                 scaled_dot_product_attention(hidden(query), key, value, Causal{}, out.tensor);
                 check.same_bits(out.tensor, plain.context);
                 out.tensor = Matrix<float, 5, 3>{};
                 scaled_dot_product_attention(hidden(query), key, value, Causal{}, out.tensor, weights.tensor);
                 check.same_bits(out.tensor, plain.context);
                 check.same_bits(weights.tensor, plain.weights);
                 check.that(out.guards_hold() && weights.guards_hold());
               }),
    everywhere("a batch, item by item, under one mask",
               [](Check& check) {
                 const auto other_query = numbers<Matrix<float, 5, 4>>(4);
                 const auto other_key = numbers<Matrix<float, 7, 4>>(5);
                 const auto other_value = numbers<Matrix<float, 7, 3>>(6);
                 const auto first = plain_attention(query, key, value, sees_the_past);
                 const auto second = plain_attention(other_query, other_key, other_value, sees_the_past);
                 Guarded<Tensor<float, 2, 5, 3>> out;
                 Guarded<Tensor<float, 2, 5, 7>> weights;
                 scaled_dot_product_attention(hidden(stack(query, other_query)), stack(key, other_key), stack(value, other_value), Causal{},
                                              out.tensor, weights.tensor);
                 check.same_bits(out.tensor, stack(first.context, second.context));
                 check.same_bits(weights.tensor, stack(first.weights, second.weights));
                 check.that(out.guards_hold() && weights.guards_hold());
               }),
    everywhere("a head is a view of columns, in and out",
               [](Check& check) {
                 const auto queries = hidden(numbers<Matrix<float, 4, 9>>(7));
                 const auto keys = hidden(numbers<Matrix<float, 6, 9>>(8));
                 const auto values = hidden(numbers<Matrix<float, 6, 9>>(9));
                 const auto head = [&](std::size_t first) {
                   return plain_attention(plain_columns<3>(queries, first), plain_columns<3>(keys, first), plain_columns<3>(values, first),
                                          sees_everything)
                       .context;
                 };
                 check.same_bits(scaled_dot_product_attention(columns<3>(queries, 6), columns<3>(keys, 6), columns<3>(values, 6)), head(6));
                 auto contexts = full<float, 4, 9>(-7.0f);
                 auto view = columns<3>(contexts, 3);
                 scaled_dot_product_attention(columns<3>(queries, 3), columns<3>(keys, 3), columns<3>(values, 3), NoMask{}, view);
                 check.same_bits(plain_columns<3>(contexts, 3), head(3));
                 check.same_bits(plain_columns<3>(contexts, 0), full<float, 4, 3>(-7.0f));
                 check.same_bits(plain_columns<3>(contexts, 6), full<float, 4, 3>(-7.0f));
               }),
    everywhere("one token, one feature",
               [](Check& check) {
                 const auto one = matrix<float>({{-3.25f}});
                 check.same_bits(scaled_dot_product_attention(hidden(one), one, matrix<float>({{0.1f}})), matrix<float>({{0.1f}}));
                 check.same_bits(scaled_dot_product_attention(hidden(one), one, matrix<float>({{0.1f}}), Causal{}),
                                 matrix<float>({{0.1f}}));
               }),
    everywhere("scores of 1e10 and 1e-30",
               [](Check& check) {
                 const auto large = matrix<float>({{1e10f}, {-1e10f}, {1e10f}});
                 const auto values = matrix<float>({{1.0f}, {2.0f}, {5.0f}});
                 check.same_bits(scaled_dot_product_attention(hidden(matrix<float>({{1.0f}, {-1.0f}})), large, values),
                                 matrix<float>({{3.0f}, {2.0f}}));
                 const auto tiny = full<float, 3, 1>(1e-15f);
                 const auto out = scaled_dot_product_attention(hidden(tiny), tiny, values);
                 check.same_bits(out, plain_matmul(full<float, 3, 3>(1.0f / 3.0f), values));
               }),
    at_run_time("a NaN stays in the rows that it takes part in",
                [](Check& check) {
                  auto q = hidden(query);
                  q(2, 1) = quiet_nan;
                  const auto out = scaled_dot_product_attention(q, key, value);
                  const auto clean = scaled_dot_product_attention(query, key, value);
                  for (std::size_t i = 0; i < 5; ++i) check.same_bits(row(out, i), i == 2 ? full<float, 3>(quiet_nan) : row(clean, i));
                  auto k = hidden(key);
                  k(6, 3) = quiet_nan;
                  check.same_bits(scaled_dot_product_attention(query, k, value), full<float, 5, 3>(quiet_nan));
                  auto v = hidden(value);
                  v(0, 1) = quiet_nan;
                  const auto column = scaled_dot_product_attention(query, key, v);
                  for (std::size_t i = 0; i < 5; ++i) check.same_bits(column(i, 1), quiet_nan);
                  for (std::size_t i = 0; i < 5; ++i) check.same_bits(column(i, 2), clean(i, 2));
                }),
    at_run_time("NaN or infinity in any element: as in plain loops",
                [](Check& check) {
                  for (const float poison : {quiet_nan, infinity, -infinity}) {
                    auto q = hidden(query);
                    auto k = hidden(key);
                    auto v = hidden(value);
                    const auto check_each = [&](auto& operand) {
                      for (float& element : operand.elements) {
                        const float before = element;
                        element = poison;
                        check.same_bits(scaled_dot_product_attention(q, k, v), plain_attention(q, k, v, sees_everything).context);
                        element = before;
                      }
                    };
                    check_each(q);
                    check_each(k);
                    check_each(v);
                  }
                }),
    at_run_time("infinity in a value: its weight decides",
                [](Check& check) {
                  auto v = hidden(value);
                  v(3, 0) = infinity;
                  const auto out = scaled_dot_product_attention(query, key, v);
                  for (std::size_t i = 0; i < 5; ++i) check.same_bits(out(i, 0), infinity);
                  const auto past = scaled_dot_product_attention(query, key, v, Causal{});
                  for (std::size_t i = 0; i < 5; ++i) check.that((past(i, 0) == infinity) == (i >= 3));
                }),
};

}  // namespace

int main() { return run(tests); }
