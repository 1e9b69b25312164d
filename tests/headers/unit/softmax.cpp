// SPDX-License-Identifier: MIT
//
// Softmax and its relatives: sums in sixteen lanes, subtraction of the maximum, the cutoff, and rows without a finite score.
#include "tinyattn/softmax.hpp"

#include "catalogue/operations.hpp"
#include "forms.hpp"
#include "tinyattn/arithmetic.hpp"

namespace tinyattn::test { namespace {

constexpr Test tests[] = {
    everywhere("known weights: equal shares, e, e^2 and e^3 over their sum, and nothing for -infinity",
               [](Check& check) {
                 check.same_bits(softmax(opaque(full<float, 4>(3.0f))), full<float, 4>(0.25f));
                 check.same_bits(softmax(opaque(vector<float>({-1e30f}))), vector<float>({1.0f}));
                 check.same_bits(softmax(opaque(vector<float>({3e38f, 1e38f, -1e-30f}))), vector<float>({1.0f, 0.0f, 0.0f}));
                 check.same_bits(normalize(opaque(vector<float>({1.0f, 2.0f, 5.0f}))), vector<float>({0.125f, 0.25f, 0.625f}));
                 const auto expected = vector<float>({0.0900305732f, 0.244728471f, 0.665240956f});
                 check.near(softmax(opaque(vector<float>({1.0f, 2.0f, 3.0f}))), expected, 1e-7f);
                 check.near(softmax_naive(opaque(vector<float>({1.0f, 2.0f, 3.0f}))), expected, 1e-7f);
                 check.near(softmax(opaque(vector<float>({1001.0f, 1002.0f, 1003.0f}))), expected, 1e-7f);
                 check.same_bits(softmax(opaque(matrix<float>({{-infinity, 2.0f, 2.0f}, {0.0f, -infinity, -infinity}}))),
                                 matrix<float>({{0.0f, 0.5f, 0.5f}, {1.0f, 0.0f, 0.0f}}));
               }),
    everywhere("in each form",
               [](Check& check) {
                 const auto m = drawn<Matrix<float, 3, 21>>(1);
                 check_forms_in_place(check, m, call_softmax);
                 check_forms_in_place(check, m, call_normalize);
                 check_forms_in_place(check, m, call_softmax_naive);
                 check.same_bits(softmax(opaque(m), 0.25f), softmax(multiply(m, 0.25f)));
               }),
    everywhere("a row of -infinity, and one whose sum is zero, is a row of zeros",
               [](Check& check) {
                 check.same_bits(softmax(opaque(full<float, 2, 19>(-infinity))), zeros<float, 2, 19>());
                 check.equal(normalize(opaque(vector<float>({2.0f, -2.0f, 0.0f}))), zeros<float, 3>());
                 check.equal(normalize(opaque(matrix<float>({{0.0f, 0.0f}, {1.0f, 1.0f}}))), matrix<float>({{0.0f, 0.0f}, {0.5f, 0.5f}}));
               }),
    everywhere("far below the maximum counts as zero",
               [](Check& check) {
                 const auto weights = softmax(opaque(vector<float>({0.0f, -69.0f, -69.5f})));
                 check.that(weights(0) == 1.0f && weights(1) > 0.0f && weights(2) == 0.0f);
                 // The cutoff applies to the scaled score.
                 const auto scaled = softmax(opaque(vector<float>({0.0f, -138.0f, -139.0f})), 0.5f);
                 check.that(scaled(1) == weights(1) && scaled(2) == 0.0f);
               }),
    everywhere("without a scale, what takes part has equal shares",
               [](Check& check) {
                 check.same_bits(softmax(opaque(vector<float>({-3e38f, 3e38f})), 0.0f), vector<float>({0.5f, 0.5f}));
                 check.same_bits(softmax(opaque(vector<float>({-infinity, 1.0f})), 0.0f), vector<float>({0.0f, 1.0f}));
                 check.same_bits(softmax(opaque(full<float, 40>(-infinity)), 0.0f), zeros<float, 40>());
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
