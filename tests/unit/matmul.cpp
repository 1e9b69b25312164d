// SPDX-License-Identifier: MIT
//
// Products: every element one chain of fma with k rising, in every form in which a product may be asked for.
#include "tinyattn/matmul.hpp"

#include <type_traits>

#include "plain.hpp"
#include "support/check.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr auto a = numbers<Matrix<float, 4, 5>>(1);
constexpr auto b = numbers<Matrix<float, 5, 3>>(2);
constexpr auto b_transposed = numbers<Matrix<float, 3, 5>>(3);

constexpr Test tests[] = {
    everywhere("a product that fits on paper",
               [](Check& check) {
                 const auto m = hidden(matrix<float>({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}));
                 const auto n = matrix<float>({{7.0f, 8.0f}, {9.0f, 10.0f}, {11.0f, 12.0f}});
                 check.equal(matmul(m, n), matrix<float>({{58.0f, 64.0f}, {139.0f, 154.0f}}));
                 check.equal(matmul_transposed(m, m), matrix<float>({{14.0f, 32.0f}, {32.0f, 77.0f}}));
                 check.equal(dot(vector<float>({1.0f, 2.0f, 3.0f}), hidden(vector<float>({4.0f, 5.0f, 6.0f}))), 32.0f);
               }),
    everywhere("k rises: the order of a chain shows in its rounding",
               [](Check& check) {
                 // 2^24 swallows a 1 that comes after it: from the left one is lost in u, none in the other; from the right it is the other
                 // way round.
                 const auto u = hidden(vector<float>({0x1p24f, 1.0f, -0x1p24f, 1.0f, 1.0f}));
                 const auto v = ones<float, 5>();
                 check.equal(dot(u, v), 2.0f);
                 check.equal(dot(vector<float>({1.0f, 1.0f, -0x1p24f, 1.0f, 0x1p24f}), hidden(v)), 3.0f);
                 Matrix<float, 5, 1> column{};
                 for (std::size_t k = 0; k < 5; ++k) column(k, 0) = 1.0f;
                 check.equal(matmul(u, column), vector<float>({2.0f}));
                 Matrix<float, 1, 5> line{};
                 for (std::size_t k = 0; k < 5; ++k) line(0, k) = u(k);
                 check.equal(matmul(line, column), matrix<float>({{2.0f}}));
                 check.equal(matmul_transposed(line, transpose(column)), matrix<float>({{2.0f}}));
               }),
    everywhere(
        "each step is rounded once",
        [](Check& check) {
          const float x = 1.0f + 0x1p-23f;
          check.equal(dot(vector<float>({-1.0f, x}), hidden(vector<float>({1.0f + 0x1p-22f, x}))), 0x1p-46f);
          check.equal(matmul(hidden(matrix<float>({{-1.0f, x}})), matrix<float>({{1.0f + 0x1p-22f}, {x}})), matrix<float>({{0x1p-46f}}));
        }),
    everywhere("the same bits as a plain loop of fma",
               [](Check& check) {
                 check.same_bits(matmul(hidden(a), b), plain_matmul(a, b));
                 check.same_bits(matmul_transposed(hidden(a), b_transposed), plain_matmul_transposed(a, b_transposed));
                 check.same_bits(dot(row(a, 1), row(hidden(b_transposed), 2)), plain_matmul_transposed(a, b_transposed)(1, 2));
               }),
    everywhere("a vector is one row",
               [](Check& check) {
                 const auto product = matmul(row(hidden(a), 2), b);
                 static_assert(std::is_same_v<decltype(product), const Vector<float, 3>>);
                 check.same_bits(product, row(plain_matmul(a, b), 2));
                 const auto transposed = matmul_transposed(row(hidden(a), 3), b_transposed);
                 static_assert(std::is_same_v<decltype(transposed), const Vector<float, 3>>);
                 check.same_bits(transposed, row(plain_matmul_transposed(a, b_transposed), 3));
               }),
    everywhere("output last: overwritten, and nothing beside it",
               [](Check& check) {
                 Guarded<Matrix<float, 4, 3>> out;
                 matmul(hidden(a), b, out.tensor);
                 check.same_bits(out.tensor, plain_matmul(a, b));
                 check.that(out.guards_hold());
                 matmul_transposed(hidden(a), b_transposed, out.tensor);
                 check.same_bits(out.tensor, plain_matmul_transposed(a, b_transposed));
                 check.that(out.guards_hold());
                 Guarded<Vector<float, 3>> line;
                 matmul(row(hidden(a), 0), b, line.tensor);
                 check.same_bits(line.tensor, row(plain_matmul(a, b), 0));
                 matmul_transposed(row(hidden(a), 0), b_transposed, line.tensor);
                 check.same_bits(line.tensor, row(plain_matmul_transposed(a, b_transposed), 0));
                 check.that(line.guards_hold());
               }),
    everywhere("a batch: each matrix by the same right-hand side",
               [](Check& check) {
                 const auto other = numbers<Matrix<float, 4, 5>>(7);
                 const auto batch = hidden(stack(a, other));
                 check.same_bits(matmul(batch, b), stack(plain_matmul(a, b), plain_matmul(other, b)));
                 check.same_bits(matmul_transposed(batch, b_transposed),
                                 stack(plain_matmul_transposed(a, b_transposed), plain_matmul_transposed(other, b_transposed)));
                 Guarded<Tensor<float, 2, 4, 3>> out;
                 matmul(batch, b, out.tensor);
                 check.same_bits(out.tensor, stack(plain_matmul(a, b), plain_matmul(other, b)));
                 check.that(out.guards_hold());
               }),
    everywhere("a batch by a batch, item by item",
               [](Check& check) {
                 const auto other_a = numbers<Matrix<float, 4, 5>>(8);
                 const auto other_b = numbers<Matrix<float, 5, 3>>(9);
                 const auto other_t = numbers<Matrix<float, 3, 5>>(10);
                 const auto batch = hidden(stack(a, other_a));
                 check.same_bits(matmul(batch, stack(b, other_b)), stack(plain_matmul(a, b), plain_matmul(other_a, other_b)));
                 check.same_bits(matmul_transposed(batch, stack(b_transposed, other_t)),
                                 stack(plain_matmul_transposed(a, b_transposed), plain_matmul_transposed(other_a, other_t)));
               }),
    everywhere("views of columns on either side",
               [](Check& check) {
                 const auto wide_a = hidden(numbers<Matrix<float, 4, 12>>(11));
                 const auto wide_b = hidden(numbers<Matrix<float, 5, 9>>(12));
                 const auto wide_t = hidden(numbers<Matrix<float, 3, 8>>(13));
                 const auto part_a = plain_columns<5>(wide_a, 6);
                 const auto part_b = plain_columns<3>(wide_b, 2);
                 const auto part_t = plain_columns<5>(wide_t, 3);
                 check.same_bits(matmul(columns<5>(wide_a, 6), part_b), plain_matmul(part_a, part_b));
                 check.same_bits(matmul(part_a, columns<3>(wide_b, 2)), plain_matmul(part_a, part_b));
                 check.same_bits(matmul(columns<5>(wide_a, 6), columns<3>(wide_b, 2)), plain_matmul(part_a, part_b));
                 check.same_bits(matmul_transposed(columns<5>(wide_a, 6), columns<5>(wide_t, 3)), plain_matmul_transposed(part_a, part_t));
               }),
    everywhere("a view as the output: its columns, and no other",
               [](Check& check) {
                 auto wide = full<float, 4, 9>(hidden(-7.0f));
                 auto view = columns<3>(wide, 4);
                 matmul(a, b, view);
                 check.same_bits(plain_columns<3>(wide, 4), plain_matmul(a, b));
                 check.same_bits(plain_columns<4>(wide, 0), full<float, 4, 4>(-7.0f));
                 check.same_bits(plain_columns<2>(wide, 7), full<float, 4, 2>(-7.0f));
                 matmul_transposed(a, b_transposed, view);
                 check.same_bits(plain_columns<3>(wide, 4), plain_matmul_transposed(a, b_transposed));
                 check.same_bits(plain_columns<2>(wide, 7), full<float, 4, 2>(-7.0f));
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
                  m(0, 2) = infinity;
                  m(1, 4) = quiet_nan;
                  m(2, 0) = -infinity;
                  m(2, 1) = infinity;
                  check.same_bits(matmul(m, b), plain_matmul(m, b));
                  check.same_bits(matmul_transposed(m, b_transposed), plain_matmul_transposed(m, b_transposed));
                  auto n = hidden(zeros<float, 5, 3>());
                  n(4, 1) = quiet_nan;
                  check.same_bits(matmul(a, n), plain_matmul(a, n));
                }),
};

}  // namespace

int main() { return run(tests); }
