// SPDX-License-Identifier: MIT
//
// Triangles with every diagonal, filling, and the additive causal mask.
#include "tinyattn/mask.hpp"

#include <cstddef>
#include <type_traits>

#include "catalogue/draw.hpp"
#include "catalogue/guarded.hpp"

namespace tinyattn::test { namespace {

constexpr auto digits = matrix<float>({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}, {7.0f, 8.0f, 9.0f}});

static_assert(std::is_same_v<decltype(causal_mask<3>()), Matrix<float, 3, 3>> && causal_mask<1>() == zeros<float, 1, 1>());

template <class T, std::size_t Rows, std::size_t Cols>
constexpr void check_triangles(Check& check, const Matrix<T, Rows, Cols>& m, std::ptrdiff_t diagonal) {
  const auto lower = tril(m, diagonal);
  const auto upper = triu(m, diagonal);
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t j = 0; j < Cols; ++j) {
      const std::ptrdiff_t distance = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i);
      check.same_bits(static_cast<float>(lower(i, j)), distance <= diagonal ? static_cast<float>(m(i, j)) : 0.0f);
      check.same_bits(static_cast<float>(upper(i, j)), distance >= diagonal ? static_cast<float>(m(i, j)) : 0.0f);
    }
  }
}

constexpr Test tests[] = {
    everywhere("every diagonal, also those outside the matrix, of floats and bools; what is cut out is not multiplied",
               [](Check& check) {
                 const auto check_diagonal = [&](std::ptrdiff_t diagonal) {
                   check_triangles(check, opaque(digits), diagonal);
                   check_triangles(check, opaque(drawn<Matrix<float, 2, 5>>(1)), diagonal);
                   check_triangles(check, opaque(drawn<Matrix<float, 5, 1>>(2)), diagonal);
                   check_triangles(check, opaque(ones<bool, 2, 3>()), diagonal);
                 };
                 for (std::ptrdiff_t diagonal = -7; diagonal <= 7; ++diagonal) check_diagonal(diagonal);
                 check_diagonal(1000000000);
                 check_diagonal(-1000000000);
                 check.same_bits(tril(opaque(full<float, 2, 2>(quiet_nan)))(0, 1), 0.0f);
                 check.that(tril(digits) == tril(digits, 0) && triu(digits) == triu(digits, 0));
               }),
    everywhere(
        "masked_fill fills where the mask is true",
        [](Check& check) {
          const auto mask = opaque(matrix<bool>({{true, false, false}, {false, false, true}, {false, true, true}}));
          check.equal(masked_fill(digits, mask, -1.0f), matrix<float>({{-1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, -1.0f}, {7.0f, -1.0f, -1.0f}}));
          check.equal(masked_fill(digits, opaque(zeros<bool, 3, 3>()), -1.0f), digits);
          check.equal(masked_fill(opaque(digits), ones<bool, 3, 3>(), 2.5f), full<float, 3, 3>(2.5f));
          check.equal(masked_fill(vector<float>({1.0f, 2.0f}), opaque(vector<bool>({false, true})), -infinity),
                      vector<float>({1.0f, -infinity}));
          const auto above = opaque(triu(ones<bool, 3, 3>(), 1));  // one mask for a whole batch
          check.equal(masked_fill(stack(digits, digits), above, 0.0f), stack(tril(digits), tril(digits)));
        }),
    everywhere("the output may be the input",
               [](Check& check) {
                 check_in_place(check, tril(digits, -1), digits, [](auto& m) { tril(m, -1, m); });
                 check_in_place(check, triu(digits, 2), digits, [](auto& m) { triu(m, 2, m); });
                 const auto above = triu(ones<bool, 3, 3>(), 1);
                 check_in_place(check, masked_fill(digits, above, 9.0f), digits, [&](auto& m) { masked_fill(m, above, 9.0f, m); });
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
