// SPDX-License-Identifier: MIT
//
// Products: every element one chain of fma with k rising, in every form in which a product may be asked for.
#include "tinyattn/matmul.hpp"

#include <type_traits>

#include "plain.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr auto a = numbers<Matrix<float, 4, 5>>(1);
constexpr auto b = numbers<Matrix<float, 5, 3>>(2);
constexpr auto b_transposed = numbers<Matrix<float, 3, 5>>(3);
constexpr auto other_a = numbers<Matrix<float, 4, 5>>(7);
constexpr auto other_b = numbers<Matrix<float, 5, 3>>(8);
constexpr auto other_b_transposed = numbers<Matrix<float, 3, 5>>(9);

constexpr auto product = [](auto&&... operands) { return matmul(operands...); };
constexpr auto transposed_product = [](auto&&... operands) { return matmul_transposed(operands...); };

// By value, and into an output.
template <class Expected>
constexpr void check_product(Check& check, auto multiply, const auto& left, const auto& right, const Expected& expected,
                             int line = __builtin_LINE()) {
  static_assert(std::is_same_v<decltype(multiply(left, right)), Expected>);
  check.same_bits(multiply(hidden(left), hidden(right)), expected, line);
  check_output(
      check, expected, [&](auto& out) { multiply(hidden(left), hidden(right), out); }, line);
}

constexpr Test tests[] = {
    everywhere("a product that fits on paper",
               [](Check& check) {
                 const auto m = hidden(matrix<float>({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}));
                 const auto n = matrix<float>({{7.0f, 8.0f}, {9.0f, 10.0f}, {11.0f, 12.0f}});
                 check.equal(matmul(m, n), matrix<float>({{58.0f, 64.0f}, {139.0f, 154.0f}}));
                 check.equal(matmul_transposed(m, m), matrix<float>({{14.0f, 32.0f}, {32.0f, 77.0f}}));
                 check.equal(dot(vector<float>({1.0f, 2.0f, 3.0f}), hidden(vector<float>({4.0f, 5.0f, 6.0f}))), 32.0f);
               }),
    everywhere("matrices and vectors: the bits of a plain loop of fma, and nothing beside them",
               [](Check& check) {
                 const auto plain = plain_matmul(a, b);
                 const auto plain_transposed = plain_matmul_transposed(a, b_transposed);
                 check_product(check, product, a, b, plain);
                 check_product(check, product, row(a, 2), b, row(plain, 2));
                 check_product(check, transposed_product, a, b_transposed, plain_transposed);
                 check_product(check, transposed_product, row(a, 3), b_transposed, row(plain_transposed, 3));
                 check.same_bits(dot(row(a, 1), row(hidden(b_transposed), 2)), plain_transposed(1, 2));
               }),
    everywhere("a batch by one matrix, and by a batch, item by item",
               [](Check& check) {
                 const auto batch = stack(a, other_a);
                 check_product(check, product, batch, b, stack(plain_matmul(a, b), plain_matmul(other_a, b)));
                 check_product(check, product, batch, stack(b, other_b), stack(plain_matmul(a, b), plain_matmul(other_a, other_b)));
                 check_product(check, transposed_product, batch, b_transposed,
                               stack(plain_matmul_transposed(a, b_transposed), plain_matmul_transposed(other_a, b_transposed)));
                 check_product(check, transposed_product, batch, stack(b_transposed, other_b_transposed),
                               stack(plain_matmul_transposed(a, b_transposed), plain_matmul_transposed(other_a, other_b_transposed)));
               }),
    everywhere("views of columns on either side",
               [](Check& check) {
                 const auto wide_a = hidden(numbers<Matrix<float, 4, 12>>(11));
                 const auto wide_b = hidden(numbers<Matrix<float, 5, 9>>(12));
                 const auto wide_t = hidden(numbers<Matrix<float, 3, 8>>(13));
                 const auto part_a = plain_columns<5>(wide_a, 6);
                 const auto part_b = plain_columns<3>(wide_b, 2);
                 const auto plain = plain_matmul(part_a, part_b);
                 check_product(check, product, columns<5>(wide_a, 6), part_b, plain);
                 check_product(check, product, part_a, columns<3>(wide_b, 2), plain);
                 check_product(check, product, columns<5>(wide_a, 6), columns<3>(wide_b, 2), plain);
                 check_product(check, transposed_product, columns<5>(wide_a, 6), columns<5>(wide_t, 3),
                               plain_matmul_transposed(part_a, plain_columns<5>(wide_t, 3)));
               }),
    everywhere("a view as the output: its columns, and no other",
               [](Check& check) {
                 const auto check_view = [&](auto multiply, const auto& right, const auto& expected) {
                   auto wide = full<float, 4, 9>(hidden(-7.0f));
                   auto view = columns<3>(wide, 4);
                   multiply(a, right, view);
                   check.same_bits(wide, concat_columns(concat_columns(full<float, 4, 4>(-7.0f), expected), full<float, 4, 2>(-7.0f)));
                 };
                 check_view(product, b, plain_matmul(a, b));
                 check_view(transposed_product, b_transposed, plain_matmul_transposed(a, b_transposed));
               }),
    everywhere("an empty chain of zeros is +0",
               [](Check& check) {
                 check.same_bits(dot(hidden(vector<float>({-0.0f, -1.0f})), zeros<float, 2>()), 0.0f);
                 check.same_bits(matmul(hidden(full<float, 2, 2>(-1.0f)), zeros<float, 2, 2>()), zeros<float, 2, 2>());
               }),
    everywhere("tiles and blocks: as few as can be, of even size",
               [](Check& check) {
                 const std::size_t four = hidden(std::size_t{4});
                 check.that(kernel::evenly(1, four) == 1 && kernel::evenly(4, four) == 4 && kernel::evenly(5, four) == 3);
                 check.that(kernel::evenly(8, four) == 4 && kernel::evenly(9, four) == 3 && kernel::evenly(13, four) == 4);
               }),
    at_run_time("NaN and infinity go through as in the plain loop",
                [](Check& check) {
                  auto m = hidden(numbers<Matrix<float, 4, 5>>(14));
                  m(0, 2) = m(2, 1) = infinity;
                  m(1, 4) = quiet_nan;
                  m(2, 0) = -infinity;
                  check_product(check, product, m, b, plain_matmul(m, b));
                  check_product(check, transposed_product, m, b_transposed, plain_matmul_transposed(m, b_transposed));
                  auto n = hidden(zeros<float, 5, 3>());
                  n(4, 1) = quiet_nan;
                  check_product(check, product, a, n, plain_matmul(a, n));
                }),
};

}  // namespace

int main() { return run(tests); }
