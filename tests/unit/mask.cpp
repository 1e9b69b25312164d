// SPDX-License-Identifier: MIT
//
// Triangles with every diagonal, filling, the additive causal mask, and the types that say what a mask means.
#include "tinyattn/mask.hpp"

#include <cstddef>
#include <type_traits>

#include "plain.hpp"
#include "support/check.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr auto digits = matrix<float>({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}, {7.0f, 8.0f, 9.0f}});

// Each meaning is a type of its own.
static_assert(!std::is_same_v<NoMask, Causal> && !std::is_same_v<Causal, CausalBottomRight>);
static_assert(!std::is_same_v<decltype(BlockMask{Vector<bool, 3>{}}), decltype(KeepMask{Vector<bool, 3>{}})>);

template <std::size_t Rows, std::size_t Cols>
constexpr void check_triangles(Check& check, const Matrix<float, Rows, Cols>& m, std::ptrdiff_t diagonal) {
  const auto lower = tril(m, diagonal);
  const auto upper = triu(m, diagonal);
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t j = 0; j < Cols; ++j) {
      const std::ptrdiff_t distance = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i);
      check.same_bits(lower(i, j), distance <= diagonal ? m(i, j) : 0.0f);
      check.same_bits(upper(i, j), distance >= diagonal ? m(i, j) : 0.0f);
    }
  }
}

constexpr Test tests[] = {
    everywhere("triangles of a square",
               [](Check& check) {
                 check.equal(tril(hidden(digits)), matrix<float>({{1.0f, 0.0f, 0.0f}, {4.0f, 5.0f, 0.0f}, {7.0f, 8.0f, 9.0f}}));
                 check.equal(triu(hidden(digits)), matrix<float>({{1.0f, 2.0f, 3.0f}, {0.0f, 5.0f, 6.0f}, {0.0f, 0.0f, 9.0f}}));
                 check.equal(triu(hidden(digits), 1), matrix<float>({{0.0f, 2.0f, 3.0f}, {0.0f, 0.0f, 6.0f}, {0.0f, 0.0f, 0.0f}}));
                 check.equal(tril(hidden(digits), -1), matrix<float>({{0.0f, 0.0f, 0.0f}, {4.0f, 0.0f, 0.0f}, {7.0f, 8.0f, 0.0f}}));
               }),
    everywhere("every diagonal, also those outside the matrix",
               [](Check& check) {
                 for (std::ptrdiff_t diagonal = -7; diagonal <= 7; ++diagonal) {
                   check_triangles(check, hidden(digits), diagonal);
                   check_triangles(check, hidden(numbers<Matrix<float, 2, 5>>(1)), diagonal);
                   check_triangles(check, hidden(numbers<Matrix<float, 5, 1>>(2)), diagonal);
                 }
               }),
    everywhere("outside, a diagonal keeps everything or nothing",
               [](Check& check) {
                 constexpr std::ptrdiff_t far = 1000000000;
                 check.equal(tril(hidden(digits), far), digits);
                 check.equal(triu(hidden(digits), -far), digits);
                 check.equal(tril(hidden(digits), -far), zeros<float, 3, 3>());
                 check.equal(triu(hidden(digits), far), zeros<float, 3, 3>());
               }),
    everywhere("triangles of bools",
               [](Check& check) {
                 check.equal(triu(hidden(ones<bool, 2, 3>()), 1), matrix<bool>({{false, true, true}, {false, false, true}}));
                 check.equal(tril(hidden(ones<bool, 2, 3>())), matrix<bool>({{true, false, false}, {true, true, false}}));
               }),
    at_run_time("a triangle is cut out, not multiplied by zero",
                [](Check& check) { check.same_bits(tril(hidden(full<float, 2, 2>(quiet_nan)))(0, 1), 0.0f); }),
    everywhere(
        "masked_fill fills where the mask is true",
        [](Check& check) {
          const auto mask = hidden(matrix<bool>({{true, false, false}, {false, false, true}, {false, true, true}}));
          check.equal(masked_fill(digits, mask, -1.0f), matrix<float>({{-1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, -1.0f}, {7.0f, -1.0f, -1.0f}}));
          check.equal(masked_fill(digits, hidden(zeros<bool, 3, 3>()), -1.0f), digits);
          check.equal(masked_fill(hidden(digits), ones<bool, 3, 3>(), 2.5f), full<float, 3, 3>(2.5f));
          check.equal(masked_fill(vector<float>({1.0f, 2.0f}), hidden(vector<bool>({false, true})), -infinity),
                      vector<float>({1.0f, -infinity}));
        }),
    everywhere("one mask for a whole batch",
               [](Check& check) {
                 const auto mask = hidden(triu(ones<bool, 3, 3>(), 1));
                 check.equal(masked_fill(stack(digits, digits), mask, 0.0f), stack(tril(digits), tril(digits)));
               }),
    everywhere("the additive causal mask",
               [](Check& check) {
                 constexpr auto mask = causal_mask<3>();
                 static_assert(std::is_same_v<decltype(mask), const Matrix<float, 3, 3>>);
                 const float out = hidden(-infinity);
                 check.same_bits(mask, matrix<float>({{0.0f, out, out}, {0.0f, 0.0f, out}, {0.0f, 0.0f, 0.0f}}));
                 check.same_bits(causal_mask<1>(), matrix<float>({{hidden(0.0f)}}));
               }),
    everywhere("masks are made from their tensors",
               [](Check& check) {
                 const auto square = hidden(triu(ones<bool, 3, 3>(), 1));
                 const auto padding = hidden(vector<bool>({true, true, false}));
                 check.equal(BlockMask{square}.tensor, square);
                 check.equal(KeepMask{padding}.tensor, padding);
                 check.equal(AdditiveMask{hidden(digits)}.tensor, digits);
                 [[maybe_unused]] constexpr NoMask none{};
                 [[maybe_unused]] constexpr Causal causal{};
                 [[maybe_unused]] constexpr CausalBottomRight bottom_right{};
               }),
};

}  // namespace

int main() { return run(tests); }
