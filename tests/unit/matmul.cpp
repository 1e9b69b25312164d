// SPDX-License-Identifier: MIT
//
// Products in every form of a call: every element is a sequential sum of fma for increasing k.
#include "tinyattn/matmul.hpp"

#include "catalogue/operations.hpp"
#include "catalogue/twin.hpp"

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
    everywhere("of matrices, vectors, batches and views, into each: as in plain loops, and nothing next to it",
               as_in_plain_loops<Matmul<4, 5, 3>, MatmulTransposed<4, 5, 3>, ProductForms<call_matmul, false>,
                                 ProductForms<call_matmul_transposed, true>>),
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
    at_run_time("NaN and infinity go through as in plain loops",
                as_in_plain_loops<AnyNotFinite<Matmul<4, 5, 3>>, AnyNotFinite<MatmulTransposed<4, 5, 3>>>),
};

}  // namespace

int main() { return run(tests); }
