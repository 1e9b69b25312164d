// SPDX-License-Identifier: MIT
//
// Products in every form of a call: every element is a sequential sum of fma for increasing k.
#include "tinyattn/matmul.hpp"

#include "catalogue/operations.hpp"
#include "forms.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr Test tests[] = {
    everywhere("a product that fits on paper",
               [](Check& check) {
                 const auto m = opaque(matrix<float>({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}));
                 const auto n = matrix<float>({{7.0f, 8.0f}, {9.0f, 10.0f}, {11.0f, 12.0f}});
                 check.equal(matmul(m, n), matrix<float>({{58.0f, 64.0f}, {139.0f, 154.0f}}));
                 check.equal(matmul_transposed(m, m), matrix<float>({{14.0f, 32.0f}, {32.0f, 77.0f}}));
                 check.equal(dot(vector<float>({1.0f, 2.0f, 3.0f}), opaque(vector<float>({4.0f, 5.0f, 6.0f}))), 32.0f);
               }),
    everywhere("of matrices, vectors, batches and views, into each",
               [](Check& check) {
                 const auto a = drawn<Matrix<float, 4, 5>>(1);
                 const auto b = drawn<Matrix<float, 5, 3>>(2), other_b = drawn<Matrix<float, 5, 3>>(3);
                 const auto wide_b = widened(b, 1);
                 const auto product = matmul(opaque(a), b);
                 check_row_forms(check, a, [&](const auto& x, auto&... out) { return matmul(x, b, out...); });
                 check_row_forms(check, a, [&](const auto& x, auto&... out) { return matmul(x, columns<3>(wide_b, 1), out...); });
                 check_row_forms(check, a, [&](const auto& x, auto&... out) { return matmul_transposed(x, transpose(b), out...); });
                 check.same_bits(matmul_transposed(a, transpose(b)), product);
                 check.same_bits(matmul(opaque(stack(a, a)), stack(b, other_b)), stack(product, matmul(a, other_b)));
               }),
    everywhere("a sum of zeros is +0",
               [](Check& check) {
                 check.same_bits(dot(opaque(vector<float>({-0.0f, -1.0f})), zeros<float, 2>()), 0.0f);
                 check.same_bits(matmul(opaque(full<float, 2, 2>(-1.0f)), zeros<float, 2, 2>()), zeros<float, 2, 2>());
               }),
    everywhere("tiles and blocks: as few as can be, of even size",
               [](Check& check) {
                 const std::size_t four = opaque(std::size_t{4});
                 check.that(kernel::evenly(1, four) == 1 && kernel::evenly(4, four) == 4 && kernel::evenly(5, four) == 3);
                 check.that(kernel::evenly(8, four) == 4 && kernel::evenly(9, four) == 3 && kernel::evenly(13, four) == 4);
               }),
};

}  // namespace

int main() { return run(tests); }
