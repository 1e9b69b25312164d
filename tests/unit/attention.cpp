// SPDX-License-Identifier: MIT
//
// Scaled dot-product attention in each of its forms, against plain loops bit for bit. What masks do is in attention_masks.cpp,
// and shapes of all sizes are in attention_shapes.cpp.
#include "tinyattn/attention.hpp"

#include "plain.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr auto query = numbers<Matrix<float, 5, 4>>(1);
constexpr auto key = numbers<Matrix<float, 7, 4>>(2);
constexpr auto value = numbers<Matrix<float, 7, 3>>(3);

// By value, into an output, and with the weights.
constexpr void check_forms(Check& check, const auto& q, const auto& k, const auto& v, const auto& mask, auto sees) {
  const auto plain = plain_attention(q, k, v, sees);
  check.same_bits(scaled_dot_product_attention(hidden(q), k, v, mask), plain.out);
  check_output(check, plain.out, [&](auto& out) { scaled_dot_product_attention(hidden(q), k, v, mask, out); });
  check_outputs(check, plain, [&](auto& out, auto& weights) { scaled_dot_product_attention(hidden(q), k, v, mask, out, weights); });
}

constexpr Test tests[] = {
    everywhere("in each form the bits of plain loops, and nothing beside them",
               [](Check& check) {
                 check_forms(check, query, key, value, NoMask{}, sees_everything);
                 check_forms(check, query, key, value, Causal{}, sees_the_past);
                 check.same_bits(scaled_dot_product_attention(hidden(query), key, value),
                                 plain_attention(query, key, value, sees_everything).out);
               }),
    everywhere("a batch, item by item, under one mask",
               [](Check& check) {
                 const auto other_query = numbers<Matrix<float, 5, 4>>(4);
                 const auto other_key = numbers<Matrix<float, 7, 4>>(5);
                 const auto other_value = numbers<Matrix<float, 7, 3>>(6);
                 const auto first = plain_attention(query, key, value, sees_the_past);
                 const auto second = plain_attention(other_query, other_key, other_value, sees_the_past);
                 const Attended<Tensor<float, 2, 5, 7>, Tensor<float, 2, 5, 3>> expected{stack(first.weights, second.weights),
                                                                                         stack(first.out, second.out)};
                 check_outputs(check, expected, [&](auto& out, auto& weights) {
                   scaled_dot_product_attention(hidden(stack(query, other_query)), stack(key, other_key), stack(value, other_value),
                                                Causal{}, out, weights);
                 });
               }),
    everywhere("a head is a view of columns, in and out",
               [](Check& check) {
                 const auto queries = hidden(numbers<Matrix<float, 4, 9>>(7));
                 const auto keys = hidden(numbers<Matrix<float, 6, 9>>(8));
                 const auto values = hidden(numbers<Matrix<float, 6, 9>>(9));
                 auto contexts = full<float, 4, 9>(-7.0f);
                 auto view = columns<3>(contexts, 3);
                 scaled_dot_product_attention(columns<3>(queries, 3), columns<3>(keys, 3), columns<3>(values, 3), NoMask{}, view);
                 const auto untouched = full<float, 4, 3>(-7.0f);
                 const auto head =
                     plain_attention(plain_columns<3>(queries, 3), plain_columns<3>(keys, 3), plain_columns<3>(values, 3), sees_everything);
                 check.same_bits(contexts, concat_columns(concat_columns(untouched, head.out), untouched));
               }),
    everywhere("one token, one feature",
               [](Check& check) {
                 const auto one = matrix<float>({{-3.25f}});
                 check.same_bits(scaled_dot_product_attention(hidden(one), one, matrix<float>({{0.1f}})), matrix<float>({{0.1f}}));
                 check_forms(check, one, one, matrix<float>({{0.1f}}), Causal{}, sees_the_past);
               }),
    everywhere("scores of 1e10 and 1e-30",
               [](Check& check) {
                 const auto large = matrix<float>({{1e10f}, {-1e10f}, {1e10f}});
                 const auto values = matrix<float>({{1.0f}, {2.0f}, {5.0f}});
                 check.same_bits(scaled_dot_product_attention(hidden(matrix<float>({{1.0f}, {-1.0f}})), large, values),
                                 matrix<float>({{3.0f}, {2.0f}}));
                 const auto tiny = full<float, 3, 1>(1e-15f);
                 check.same_bits(scaled_dot_product_attention(hidden(tiny), tiny, values),
                                 plain_matmul(full<float, 3, 3>(1.0f / 3.0f), values));
               }),
    at_run_time("NaN or infinity in any element: as in plain loops",
                [](Check& check) {
                  auto q = hidden(query);
                  auto k = hidden(key);
                  auto v = hidden(value);
                  const auto check_each = [&](auto& operand) {
                    for (float& element : operand.elements) {
                      const float before = element;
                      for (const float poison : {quiet_nan, infinity, -infinity}) {
                        element = poison;
                        check.same_bits(scaled_dot_product_attention(q, k, v), plain_attention(q, k, v, sees_everything).out);
                      }
                      element = before;
                    }
                  };
                  check_each(q);
                  check_each(k);
                  check_each(v);
                }),
};

}  // namespace

int main() { return run(tests); }
