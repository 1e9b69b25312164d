// SPDX-License-Identifier: MIT
//
// Masks: each type and polarity, the ways of saying the same thing, and what may not leak from behind one.
#include "plain.hpp"
#include "support/check.hpp"
#include "tinyattn/attention.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr std::size_t tokens = 6;
constexpr std::size_t source = 6;
constexpr auto query = numbers<Matrix<float, tokens, 4>>(1);
constexpr auto key = numbers<Matrix<float, source, 4>>(2);
constexpr auto value = numbers<Matrix<float, source, 3>>(3);

// No pattern that a triangle could have; query 2 sees nothing, query 4 everything.
constexpr auto keep = matrix<bool>({{true, false, true, true, false, false},
                                    {false, false, false, false, false, true},
                                    {false, false, false, false, false, false},
                                    {false, true, true, false, true, false},
                                    {true, true, true, true, true, true},
                                    {true, false, false, false, false, true}});
constexpr auto kept = [](std::size_t i, std::size_t j) { return keep(i, j); };

template <std::size_t... Extents>
constexpr Tensor<bool, Extents...> opposite(Tensor<bool, Extents...> mask) noexcept {
  for (std::size_t i = 0; i < mask.size(); ++i) mask.data()[i] = !mask.data()[i];
  return mask;
}

// Masks that are temporaries: their addresses are compared with null while the compiler computes.
constexpr auto of_kept = scaled_dot_product_attention(query, key, value, KeepMask{Tensor(keep)});
static_assert(scaled_dot_product_attention(query, key, value, BlockMask{opposite(keep)}) == of_kept);
static_assert(scaled_dot_product_attention(query, key, value, AdditiveMask{zeros<float, tokens, source>()}) ==
              scaled_dot_product_attention(query, key, value));

constexpr PlainAttention<tokens, source, 3> attend(const auto& mask, const Matrix<float, tokens, 4>& q = query,
                                                   const Matrix<float, source, 4>& k = key, const Matrix<float, source, 3>& v = value) {
  PlainAttention<tokens, source, 3> result{full<float, tokens, source>(-7.0f), full<float, tokens, 3>(-7.0f)};
  scaled_dot_product_attention(hidden(q), k, v, mask, result.context, result.weights);
  return result;
}

constexpr void check_same(Check& check, const PlainAttention<tokens, source, 3>& actual, const PlainAttention<tokens, source, 3>& expected,
                          int line = __builtin_LINE()) {
  check.same_bits(actual.weights, expected.weights, line);
  check.same_bits(actual.context, expected.context, line);
}

// Query i of `Tokens` sees keys 0 to i + SourceTokens - Tokens.
template <std::size_t Tokens, std::size_t SourceTokens>
constexpr void check_bottom_right(Check& check) {
  const auto q = hidden(numbers<Matrix<float, Tokens, 3>>(4));
  const auto k = numbers<Matrix<float, SourceTokens, 3>>(5);
  const auto v = numbers<Matrix<float, SourceTokens, 2>>(6);
  const auto expected = plain_attention(q, k, v, [](std::size_t i, std::size_t j) { return j + Tokens <= i + SourceTokens; });
  Guarded<Matrix<float, Tokens, 2>> out;
  Guarded<Matrix<float, Tokens, SourceTokens>> weights;
  scaled_dot_product_attention(q, k, v, CausalBottomRight{}, out.tensor, weights.tensor);
  check.same_bits(out.tensor, expected.context);
  check.same_bits(weights.tensor, expected.weights);
  check.that(out.guards_hold() && weights.guards_hold());
}

constexpr Test tests[] = {
    everywhere("true blocks in one type and keeps in the other",
               [](Check& check) {
                 const auto expected = plain_attention(query, key, value, kept);
                 check_same(check, attend(KeepMask{hidden(keep)}), expected);
                 check_same(check, attend(BlockMask{hidden(opposite(keep))}), expected);
               }),
    everywhere("an addend of -infinity hides, one of 0 does not",
               [](Check& check) {
                 const auto addend = masked_fill(zeros<float, tokens, source>(), hidden(opposite(keep)), -infinity);
                 check_same(check, attend(AdditiveMask{addend}), plain_attention(query, key, value, addend));
                 const auto weights = attend(AdditiveMask{addend}).weights;
                 for (std::size_t i = 0; i < tokens; ++i) {
                   for (std::size_t j = 0; j < source; ++j) check.that((weights(i, j) != 0.0f) == keep(i, j));
                 }
               }),
    everywhere("an addend goes to the scaled score",
               [](Check& check) {
                 const auto addend = hidden(numbers<Matrix<float, tokens, source>>(7));
                 check_same(check, attend(AdditiveMask{addend}), plain_attention(query, key, value, addend));
                 // Equal scores and an addend of ln 3 for one of two keys: three quarters.
                 Matrix<float, 1, 2> weights{};
                 Matrix<float, 1, 1> out{};
                 scaled_dot_product_attention(hidden(matrix<float>({{2.0f, 2.0f, 2.0f, 2.0f}})), full<float, 2, 4>(1.0f),
                                              matrix<float>({{1.0f}, {0.0f}}), AdditiveMask{matrix<float>({{1.09861229f, 0.0f}})}, out,
                                              weights);
                 check.near(weights, matrix<float>({{0.75f, 0.25f}}), 1e-6f);
               }),
    everywhere("a scale that is no power of two is fused with the addend",
               [](Check& check) {
                 const auto q = hidden(numbers<Matrix<float, 4, 3>>(8));
                 const auto k = numbers<Matrix<float, 5, 3>>(9);
                 const auto v = numbers<Matrix<float, 5, 2>>(10);
                 const auto addend = hidden(numbers<Matrix<float, 4, 5>>(11));
                 check.same_bits(scaled_dot_product_attention(q, k, v, AdditiveMask{addend}), plain_attention(q, k, v, addend).context);
               }),
    // The scale is 1/2 here: whether it is multiplied before or after the largest score is taken out changes no bit.
    everywhere("four ways to say causal, one answer",
               [](Check& check) {
                 const auto causal = attend(Causal{});
                 check_same(check, causal, plain_attention(query, key, value, sees_the_past));
                 check_same(check, attend(BlockMask{hidden(triu(ones<bool, tokens, source>(), 1))}), causal);
                 check_same(check, attend(KeepMask{hidden(tril(ones<bool, tokens, source>()))}), causal);
                 check_same(check, attend(AdditiveMask{hidden(causal_mask<tokens>())}), causal);
                 check_same(check, attend(CausalBottomRight{}), causal);
               }),
    everywhere("masks that hide nothing",
               [](Check& check) {
                 const auto all = attend(NoMask{});
                 check_same(check, attend(BlockMask{hidden(zeros<bool, tokens, source>())}), all);
                 check_same(check, attend(KeepMask{hidden(ones<bool, tokens, source>())}), all);
                 check_same(check, attend(BlockMask{hidden(zeros<bool, source>())}), all);
                 check_same(check, attend(AdditiveMask{hidden(zeros<float, tokens, source>())}), all);
               }),
    everywhere("a mask of the source tokens is padding, the same for every query",
               [](Check& check) {
                 const auto padding = hidden(vector<bool>({true, true, false, true, false, false}));
                 const auto expected = plain_attention(query, key, value, [&](std::size_t, std::size_t j) { return padding(j); });
                 check_same(check, attend(KeepMask{padding}), expected);
                 check_same(check, attend(BlockMask{opposite(padding)}), expected);
                 const auto addend = vector<float>({0.5f, 0.0f, -infinity, -2.0f, -infinity, -infinity});
                 Matrix<float, tokens, source> rows{};
                 for (std::size_t i = 0; i < rows.size(); ++i) rows.data()[i] = addend(i % source);
                 check_same(check, attend(AdditiveMask{hidden(addend)}), plain_attention(query, key, value, rows));
               }),
    everywhere("a query that sees nothing gives zeros",
               [](Check& check) {
                 const PlainAttention<tokens, source, 3> nothing{};
                 check.same_bits(row(attend(KeepMask{hidden(keep)}).context, 2), zeros<float, 3>());
                 check_same(check, attend(KeepMask{hidden(zeros<bool, tokens, source>())}), nothing);
                 check_same(check, attend(BlockMask{hidden(ones<bool, source>())}), nothing);
                 check_same(check, attend(AdditiveMask{hidden(full<float, tokens, source>(-infinity))}), nothing);
               }),
    everywhere("causal from the bottom right",
               [](Check& check) {
                 check_bottom_right<3, 5>(check);
                 check_bottom_right<5, 3>(check);  // the first two queries see nothing
                 check_bottom_right<4, 4>(check);
                 check_bottom_right<1, 6>(check);
                 check_bottom_right<6, 1>(check);
               }),
    at_run_time("causal from the bottom right, over several blocks",
                [](Check& check) {
                  check_bottom_right<19, 33>(check);
                  check_bottom_right<33, 18>(check);
                }),
    at_run_time("a NaN or infinity behind a mask does not leak",
                [](Check& check) {
                  for (const float poison : {quiet_nan, infinity, -infinity}) {
                    auto k = hidden(key);
                    auto v = hidden(value);
                    for (std::size_t column = 0; column < 4; ++column) k(4, column) = poison;
                    for (std::size_t column = 0; column < 3; ++column) v(4, column) = poison;
                    auto mask = keep;
                    for (std::size_t i = 0; i < tokens; ++i) mask(i, 4) = false;
                    const auto sees = [&](std::size_t i, std::size_t j) { return mask(i, j); };
                    const auto clean = plain_attention(query, key, value, sees);
                    check_same(check, attend(KeepMask{mask}, query, k, v), clean);
                    check_same(check, attend(BlockMask{opposite(mask)}, query, k, v), clean);
                    const auto addend = masked_fill(zeros<float, tokens, source>(), opposite(mask), -infinity);
                    check_same(check, attend(AdditiveMask{addend}, query, k, v), plain_attention(query, key, value, addend));
                    const auto past = attend(Causal{}, query, k, v);
                    const auto clean_past = attend(Causal{});
                    for (std::size_t i = 0; i < 4; ++i) {
                      check.same_bits(row(past.context, i), row(clean_past.context, i));
                      check.same_bits(row(past.weights, i), row(clean_past.weights, i));
                    }
                  }
                }),
    at_run_time("a NaN behind a mask does not leak into wide contexts",
                [](Check& check) {
                  auto v = hidden(numbers<Matrix<float, source, 32>>(4));
                  auto mask = keep;
                  for (std::size_t i = 0; i < tokens; ++i) mask(i, 4) = false;
                  const auto clean = plain_attention(query, key, v, [&](std::size_t i, std::size_t j) { return mask(i, j); });
                  for (std::size_t column = 0; column < 32; ++column) v(4, column) = quiet_nan;
                  check.same_bits(scaled_dot_product_attention(query, key, v, KeepMask{mask}), clean.context);
                }),
    at_run_time("a NaN in an addend takes part",
                [](Check& check) {
                  auto addend = zeros<float, tokens, source>();
                  addend(1, 3) = quiet_nan;
                  const auto result = attend(AdditiveMask{hidden(addend)});
                  check.same_bits(row(result.context, 1), full<float, 3>(quiet_nan));
                  check.same_bits(row(result.context, 0), row(attend(NoMask{}).context, 0));
                }),
    at_run_time("an addend of +infinity takes part: its row is NaN, and no other",
                [](Check& check) {
                  auto addend = zeros<float, tokens, source>();
                  addend(4, 0) = infinity;
                  check_same(check, attend(AdditiveMask{hidden(addend)}), plain_attention(query, key, value, addend));
                }),
    at_run_time("in a row of NaN a hidden weight is still zero",
                [](Check& check) {
                  auto q = hidden(query);
                  for (std::size_t i = 0; i < tokens; ++i) q(i, 1) = quiet_nan;
                  const auto hidden_by_mask = attend(KeepMask{keep}, q).weights;
                  const auto hidden_by_addend =
                      attend(AdditiveMask{masked_fill(zeros<float, tokens, source>(), opposite(keep), -infinity)}, q).weights;
                  const auto future = attend(Causal{}, q).weights;
                  for (std::size_t i = 0; i < tokens; ++i) {
                    for (std::size_t j = 0; j < source; ++j) {
                      check.same_bits(hidden_by_mask(i, j), keep(i, j) ? quiet_nan : 0.0f);
                      check.same_bits(hidden_by_addend(i, j), keep(i, j) ? quiet_nan : 0.0f);
                      check.same_bits(future(i, j), j <= i ? quiet_nan : 0.0f);
                    }
                  }
                }),
    at_run_time("a NaN in a query that sees nothing is not seen either",
                [](Check& check) {
                  auto q = hidden(query);
                  q(2, 0) = quiet_nan;
                  check_same(check, attend(KeepMask{keep}, q), attend(KeepMask{keep}));
                }),
    at_run_time(
        "a weight that the cutoff made zero still multiplies",
        [](Check& check) {
          const auto q = hidden(matrix<float>({{1.0f}}));
          const auto out = scaled_dot_product_attention(q, matrix<float>({{0.0f}, {-1000.0f}}), matrix<float>({{1.0f}, {quiet_nan}}));
          check.same_bits(out, matrix<float>({{quiet_nan}}));
        }),
};

}  // namespace

int main() { return run(tests); }
