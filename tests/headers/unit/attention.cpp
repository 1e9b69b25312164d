// SPDX-License-Identifier: MIT
//
// Scaled dot-product attention, under each mask.
#include "tinyattn/attention.hpp"

#include "forms.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/softmax.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

// Temporaries as masks: in a constant expression the compiler compares their addresses with null.
constexpr auto query = drawn<Matrix<float, 6, 4>>(1), key = drawn<Matrix<float, 6, 4>>(2);
constexpr auto value = drawn<Matrix<float, 6, 3>>(3);
constexpr auto keep = drawn<KeepMask<6, 6>>(4).tensor;
constexpr auto of_kept = scaled_dot_product_attention(query, key, value, KeepMask{Tensor(keep)});
static_assert(scaled_dot_product_attention(query, key, value, BlockMask{masked_fill(ones<bool, 6, 6>(), keep, false)}) == of_kept);
static_assert(scaled_dot_product_attention(query, key, value, AdditiveMask{zeros<float, 6, 6>()}) ==
              scaled_dot_product_attention(query, key, value));

// Checks that two masks give the same bits of outputs and weights.
template <std::size_t Tokens, std::size_t Keys>
constexpr void check_same_mask(Check& check, const auto& mask, const auto& other) {
  const auto q = drawn<Matrix<float, Tokens, 4>>(1);
  const auto k = drawn<Matrix<float, Keys, 4>>(2);
  const auto v = drawn<Matrix<float, Keys, 3>>(3);
  Matrix<float, Tokens, 3> out{}, expected{};
  Matrix<float, Tokens, Keys> weights{}, expected_weights{};
  scaled_dot_product_attention(opaque(q), k, v, mask, out, weights);
  scaled_dot_product_attention(opaque(q), k, v, other, expected, expected_weights);
  check.same_bits(out, expected);
  check.same_bits(weights, expected_weights);
  check.same_bits(scaled_dot_product_attention(q, k, v, mask), expected);
}
// Bottom right: the last query sees all keys, each query before it one key less.
template <std::size_t Tokens, std::size_t Keys>
constexpr void check_bottom_right(Check& check) {
  Matrix<bool, Tokens, Keys> sees{};
  for (std::size_t i = 0; i < Tokens; ++i)
    for (std::size_t j = 0; j < Keys; ++j) sees(i, j) = j + Tokens <= i + Keys;
  check_same_mask<Tokens, Keys>(check, CausalBottomRight{}, KeepMask{sees});
}

// Checks that no NaN or infinity leaks from a key and a value that every query masks.
void check_no_leak(Check& check, const auto& mask) {
  auto k = key;
  auto v = value;
  const auto expected = scaled_dot_product_attention(query, key, value, mask);
  for (const float poison : {quiet_nan, infinity, -infinity}) {
    for (std::size_t j = 0; j < 4; ++j) k(4, j) = poison;
    for (std::size_t j = 0; j < 3; ++j) v(4, j) = poison;
    check.same_bits(scaled_dot_product_attention(opaque(query), k, v, mask), expected);
  }
}
constexpr auto without_key_4 = [] {
  auto mask = keep;
  for (std::size_t i = 0; i < 6; ++i) mask(i, 4) = false;
  return mask;
}();

constexpr Test tests[] = {
    everywhere("in each form",
               [](Check& check) {
                 const auto check_one = [&](const auto& mask) {
                   const auto expected = scaled_dot_product_attention(opaque(query), key, value, mask);
                   const auto wide_query = widened(query, 2), wide_key = widened(key, 1);
                   const auto wide_value = widened(value, 2);
                   check_output(check, widened(expected, 1), [&](auto& wide) {
                     auto out = columns<3>(wide, 1);
                     scaled_dot_product_attention(columns<4>(wide_query, 2), columns<4>(wide_key, 1), columns<3>(wide_value, 2), mask, out);
                   });
                   check_output(check, stack(expected, expected), [&](auto& out) {
                     scaled_dot_product_attention(stack(query, query), stack(key, key), stack(value, value), mask, out);
                   });
                 };
                 check_one(NoMask{});
                 check_one(Causal{});
                 check_one(KeepMask{Tensor(keep)});
               }),
    // In a random mask with rows, the first row masks every key: that query's weights and output are 0.
    everywhere("masks that keep, block and add, a row for each query or one for all",
               [](Check& check) {
                 const auto rows = drawn<KeepMask<6, 7>>(4).tensor;
                 const auto one = drawn<KeepMask<7>>(5).tensor;
                 Matrix<bool, 6, 7> same_rows{};
                 for (std::size_t i = 0; i < 42; ++i) same_rows.elements[i] = one(i % 7);
                 check_same_mask<6, 7>(check, BlockMask{masked_fill(ones<bool, 6, 7>(), rows, false)}, KeepMask{Tensor(rows)});
                 check_same_mask<6, 7>(check, BlockMask{masked_fill(ones<bool, 7>(), one, false)}, KeepMask{Tensor(one)});
                 check_same_mask<6, 7>(check, KeepMask{Tensor(same_rows)}, KeepMask{Tensor(one)});
                 check_same_mask<6, 7>(check, AdditiveMask{masked_fill(full<float, 6, 7>(-infinity), same_rows, 0.25f)},
                                       AdditiveMask{masked_fill(full<float, 7>(-infinity), one, 0.25f)});
               }),
    everywhere("four ways to say causal",
               [](Check& check) {
                 check_same_mask<6, 6>(check, CausalBottomRight{}, Causal{});
                 check_same_mask<6, 6>(check, KeepMask{tril(ones<bool, 6, 6>())}, Causal{});
                 check_same_mask<6, 6>(check, BlockMask{triu(ones<bool, 6, 6>(), 1)}, Causal{});
               }),
    everywhere("a query that sees nothing gives zeros; masks that mask nothing are none",
               [](Check& check) {
                 check.same_bits(scaled_dot_product_attention(opaque(query), key, value, KeepMask{zeros<bool, 6, 6>()}),
                                 zeros<float, 6, 3>());
                 check.same_bits(scaled_dot_product_attention(opaque(query), key, value, BlockMask{ones<bool, 6>()}), zeros<float, 6, 3>());
                 check.same_bits(scaled_dot_product_attention(opaque(query), key, value, KeepMask{ones<bool, 6>()}),
                                 scaled_dot_product_attention(query, key, value));
               }),
    // With five queries and three keys, the first two queries attend to no key.
    everywhere("causal from the bottom right",
               each_of<check_bottom_right<3, 5>, check_bottom_right<5, 3>, check_bottom_right<1, 6>, check_bottom_right<6, 1>>),
    at_run_time("causal from the bottom right, over several blocks", each_of<check_bottom_right<19, 33>, check_bottom_right<33, 18>>),
    at_run_time("a NaN or infinity that is masked does not leak",
                [](Check& check) {
                  check_no_leak(check, KeepMask{Tensor(without_key_4)});
                  check_no_leak(check, BlockMask{masked_fill(ones<bool, 6, 6>(), without_key_4, false)});
                  check_no_leak(check, AdditiveMask{masked_fill(full<float, 6, 6>(-infinity), without_key_4, 0.0f)});
                  auto k = key;
                  k(4, 0) = quiet_nan;
                  const auto out = scaled_dot_product_attention(query, k, value, Causal{});
                  for (std::size_t i = 0; i < 6; ++i) check.equal(out(i, 0) != out(i, 0), i >= 4);
                }),
    at_run_time("a NaN or +infinity in an addend takes part; in a row of NaN a masked weight is still zero",
                [](Check& check) {
                  for (const float addend : {quiet_nan, infinity}) {
                    Matrix<float, 1, 3> out{}, weights{};
                    const auto three = drawn<Matrix<float, 3, 4>>(6);
                    scaled_dot_product_attention(opaque(drawn<Matrix<float, 1, 4>>(5)), three, drawn<Matrix<float, 3, 3>>(7),
                                                 AdditiveMask{vector<float>({addend, 0.0f, -infinity})}, out, weights);
                    check.same_bits(weights, vector<float>({quiet_nan, quiet_nan, 0.0f}));
                  }
                }),
    at_run_time(
        "a weight that the cutoff made zero still multiplies",
        [](Check& check) {
          const auto q = opaque(matrix<float>({{1.0f}}));
          const auto out = scaled_dot_product_attention(q, matrix<float>({{0.0f}, {-1000.0f}}), matrix<float>({{1.0f}, {quiet_nan}}));
          check.same_bits(out, matrix<float>({{quiet_nan}}));
        }),
};

}  // namespace

int main() { return run(tests); }
