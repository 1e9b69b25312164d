// SPDX-License-Identifier: MIT
//
// Masks: each type and polarity, the ways of saying the same thing, and what may not leak from behind one.
#include "masks.hpp"
#include "tinyattn/attention.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr std::size_t tokens = 6;
constexpr std::size_t source = 6;

// The width of a key is 4 and the scale 1/2, a power of two: what is added to scores changes no bit of the others.
constexpr auto query = numbers<Matrix<float, tokens, 4>>(1);
constexpr auto key = numbers<Matrix<float, source, 4>>(2);
constexpr auto value = numbers<Matrix<float, source, 3>>(3);

// No pattern that a triangle could have; query 2 sees nothing, query 4 everything but key 4.
constexpr auto keep = matrix<bool>({{true, false, true, true, false, false},
                                    {false, false, false, false, false, true},
                                    {false, false, false, false, false, false},
                                    {false, true, true, false, false, false},
                                    {true, true, true, true, false, true},
                                    {true, false, false, false, false, true}});

// Masks that are temporaries: their addresses are compared with null while the compiler computes.
constexpr auto of_kept = scaled_dot_product_attention(query, key, value, KeepMask{Tensor(keep)});
static_assert(scaled_dot_product_attention(query, key, value, BlockMask{opposite(keep)}) == of_kept);
static_assert(scaled_dot_product_attention(query, key, value, AdditiveMask{zeros<float, tokens, source>()}) ==
              scaled_dot_product_attention(query, key, value));

constexpr void check_attention(Check& check, const auto& expected, const auto& q, const auto& k, const auto& v, const auto& mask,
                               int line = __builtin_LINE()) {
  check_outputs(
      check, expected, [&](auto& out, auto& weights) { scaled_dot_product_attention(q, k, v, mask, out, weights); }, line);
}

// Masks of all three types that keep `kept`.
constexpr void check_masks(Check& check, const auto& kept, int line = __builtin_LINE()) {
  const auto expected = plain_attention(query, key, value, sees_kept(kept));
  for_each_mask(kept, [&](const auto& mask) { check_attention(check, expected, hidden(query), key, value, mask, line); });
}

constexpr void check_addends(Check& check, const auto& q, const auto& k, const auto& v, const auto& addend, int line = __builtin_LINE()) {
  check_attention(check, plain_attention(q, k, v, addend), q, k, v, AdditiveMask{hidden(addend)}, line);
}

// Query i of `Tokens` sees keys 0 to i + SourceTokens - Tokens.
template <std::size_t Tokens, std::size_t SourceTokens>
constexpr void check_bottom_right(Check& check) {
  const auto q = hidden(numbers<Matrix<float, Tokens, 3>>(4));
  const auto k = numbers<Matrix<float, SourceTokens, 3>>(5);
  const auto v = numbers<Matrix<float, SourceTokens, 2>>(6);
  const auto sees = [](std::size_t i, std::size_t j) { return j + Tokens <= i + SourceTokens; };
  check_attention(check, plain_attention(q, k, v, sees), q, k, v, CausalBottomRight{});
}

constexpr Test tests[] = {
    everywhere("true blocks in one type and keeps in the other, an addend of -infinity hides",
               [](Check& check) { check_masks(check, keep); }),
    everywhere("an addend goes to the scaled score",
               [](Check& check) {
                 check_addends(check, query, key, value, numbers<Matrix<float, tokens, source>>(7));
                 // Equal scores and an addend of ln 3 for one of two keys: three quarters.
                 Matrix<float, 1, 2> weights{};
                 Matrix<float, 1, 1> out{};
                 scaled_dot_product_attention(hidden(full<float, 1, 4>(2.0f)), full<float, 2, 4>(1.0f), matrix<float>({{1.0f}, {0.0f}}),
                                              AdditiveMask{matrix<float>({{1.09861229f, 0.0f}})}, out, weights);
                 check.near(weights, matrix<float>({{0.75f, 0.25f}}), 1e-6f);
                 // A scale that is no power of two is fused with the addend.
                 check_addends(check, hidden(numbers<Matrix<float, 4, 3>>(8)), numbers<Matrix<float, 5, 3>>(9),
                               numbers<Matrix<float, 5, 2>>(10), numbers<Matrix<float, 4, 5>>(11));
               }),
    everywhere("five ways to say causal, one answer",
               [](Check& check) {
                 const auto causal = plain_attention(query, key, value, sees_the_past);
                 check_attention(check, causal, hidden(query), key, value, Causal{});
                 check_attention(check, causal, hidden(query), key, value, CausalBottomRight{});
                 check_attention(check, causal, hidden(query), key, value, AdditiveMask{causal_mask<tokens>()});
                 check_masks(check, tril(ones<bool, tokens, source>()));
               }),
    everywhere("a mask of the source tokens is padding, the same for every query; some masks hide nothing",
               [](Check& check) {
                 check_masks(check, ones<bool, tokens, source>());
                 check_masks(check, ones<bool, source>());
                 check_masks(check, vector<bool>({true, true, false, true, false, false}));
                 const auto addend = vector<float>({0.5f, 0.0f, -infinity, -2.0f, -infinity, -infinity});
                 Matrix<float, tokens, source> rows{};
                 for (std::size_t i = 0; i < rows.size(); ++i) rows.data()[i] = addend(i % source);
                 check_attention(check, plain_attention(query, key, value, rows), query, key, value, AdditiveMask{hidden(addend)});
               }),
    everywhere("a query that sees nothing gives zeros",
               [](Check& check) {
                 check.same_bits(row(scaled_dot_product_attention(query, key, value, KeepMask{hidden(keep)}), 2), zeros<float, 3>());
                 check_masks(check, zeros<bool, tokens, source>());
                 check_masks(check, zeros<bool, source>());
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
                  const auto clean = plain_attention(query, key, value, sees_kept(keep));
                  const auto wide_value = numbers<Matrix<float, source, 32>>(4);
                  const auto wide_clean = plain_attention(query, key, wide_value, sees_kept(keep));
                  const auto clean_past = scaled_dot_product_attention(query, key, value, Causal{});
                  for (const float poison : {quiet_nan, infinity, -infinity}) {
                    const auto poisoned = [=](auto m) {  // in the row of key 4, which no query sees
                      for (std::size_t column = 0; column < m.extent(1); ++column) m(4, column) = poison;
                      return m;
                    };
                    for_each_mask(keep, [&](const auto& mask) {
                      check_attention(check, clean, query, poisoned(key), poisoned(value), mask);
                      check_attention(check, wide_clean, query, poisoned(key), poisoned(wide_value), mask);
                    });
                    const auto past = scaled_dot_product_attention(query, poisoned(key), poisoned(value), Causal{});
                    check.same_bits(plain_rows<4>(past, 0), plain_rows<4>(clean_past, 0));
                  }
                }),
    at_run_time("a NaN or +infinity in an addend takes part: its row is NaN, and no other",
                [](Check& check) {
                  for (const float poison : {quiet_nan, infinity}) {
                    auto addend = zeros<float, tokens, source>();
                    addend(4, 0) = poison;
                    check_addends(check, query, key, value, addend);
                    const auto out = scaled_dot_product_attention(query, key, value, AdditiveMask{addend});
                    check.same_bits(row(out, 4), full<float, 3>(quiet_nan));
                  }
                }),
    at_run_time("in a row of NaN a hidden weight is still zero",
                [](Check& check) {
                  auto q = hidden(query);
                  for (std::size_t i = 0; i < tokens; ++i) q(i, 1) = quiet_nan;
                  const auto check_weights = [&](const auto& kept, const auto& mask) {
                    Matrix<float, tokens, 3> out{};
                    Matrix<float, tokens, source> weights{};
                    scaled_dot_product_attention(q, key, value, mask, out, weights);
                    for (std::size_t i = 0; i < weights.size(); ++i) check.same_bits(weights.data()[i], kept.data()[i] ? quiet_nan : 0.0f);
                    for (std::size_t i = 0; i < tokens; ++i)
                      check.same_bits(row(out, i), full<float, 3>(row(kept, i) == zeros<bool, source>() ? 0.0f : quiet_nan));
                  };
                  for_each_mask(keep, [&](const auto& mask) { check_weights(keep, mask); });
                  check_weights(tril(ones<bool, tokens, source>()), Causal{});
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
