// SPDX-License-Identifier: MIT
//
// Softmax and its relatives: sixteen lanes, a largest score taken out, a cutoff, and what happens to a row of nothing.
#include "tinyattn/softmax.hpp"

#include <type_traits>

#include "plain.hpp"
#include "support/check.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr auto scores = numbers<Matrix<float, 3, 21>>(1);

template <std::size_t Rows, std::size_t Cols>
constexpr Matrix<float, Rows, Cols> plain_normalize(const Matrix<float, Rows, Cols>& m) noexcept {
  Matrix<float, Rows, Cols> out{};
  for (std::size_t i = 0; i < Rows; ++i) {
    const float sum = plain_sum(Cols, [&](std::size_t j) { return m(i, j); });
    for (std::size_t j = 0; j < Cols; ++j) out(i, j) = m(i, j) * (1.0f / sum);
  }
  return out;
}

template <std::size_t Rows, std::size_t Cols>
constexpr Matrix<float, Rows, Cols> exp_of_each(Matrix<float, Rows, Cols> m) noexcept {
  for (std::size_t i = 0; i < m.size(); ++i) m.data()[i] = exp(m.data()[i]);
  return m;
}

constexpr Test tests[] = {
    everywhere("equal scores share alike",
               [](Check& check) {
                 check.same_bits(softmax(hidden(vector<float>({3.0f, 3.0f, 3.0f, 3.0f}))), full<float, 4>(0.25f));
                 check.same_bits(softmax(hidden(vector<float>({-1e30f}))), vector<float>({1.0f}));
                 check.same_bits(normalize(hidden(vector<float>({1.0f, 2.0f, 5.0f}))), vector<float>({0.125f, 0.25f, 0.625f}));
               }),
    everywhere("known weights",
               [](Check& check) {
                 // e, e^2, e^3 over their sum.
                 const auto expected = vector<float>({0.0900305732f, 0.244728471f, 0.665240956f});
                 check.near(softmax(hidden(vector<float>({1.0f, 2.0f, 3.0f}))), expected, 1e-7f);
                 check.near(softmax_naive(hidden(vector<float>({1.0f, 2.0f, 3.0f}))), expected, 1e-7f);
                 check.near(softmax(hidden(vector<float>({1001.0f, 1002.0f, 1003.0f}))), expected, 1e-7f);
               }),
    everywhere("a sum in sixteen lanes",
               [](Check& check) {
                 // 2^24 swallows a 1 that shares its lane and keeps the pair that lanes 2 and 10 make first.
                 auto v = zeros<float, 32>();
                 v(0) = 0x1p24f;
                 v(16) = 1.0f;
                 v(2) = 1.0f;
                 v(10) = 1.0f;
                 const float sum = 0x1p24f + 2.0f;
                 const auto weights = normalize(hidden(v));
                 check.same_bits(weights(0), 0x1p24f * (1.0f / sum));
                 check.same_bits(weights(2), 1.0f / sum);
                 // 17 elements: 1 and 2^24 meet in lane 0, and the 1 is lost before -2^24 comes from lane 1.
                 auto u = zeros<float, 17>();
                 u(0) = 1.0f;
                 u(16) = 0x1p24f;
                 u(1) = -0x1p24f + 1.0f;
                 check.same_bits(normalize(hidden(u)), u);
               }),
    everywhere("the same bits as plain loops",
               [](Check& check) {
                 check.same_bits(softmax(hidden(scores)), plain_softmax(scores, 1.0f, sees_everything));
                 check.same_bits(softmax(hidden(scores), 0.353553385f), plain_softmax(scores, 0.353553385f, sees_everything));
                 check.same_bits(normalize(hidden(scores)), plain_normalize(scores));
                 check.same_bits(softmax_naive(hidden(scores)), plain_normalize(exp_of_each(scores)));
               }),
    everywhere("output last, and in place",
               [](Check& check) {
                 const auto expected = plain_softmax(scores, 1.0f, sees_everything);
                 Guarded<Matrix<float, 3, 21>> out;
                 softmax(hidden(scores), out.tensor);
                 check.same_bits(out.tensor, expected);
                 out.tensor = hidden(scores);
                 softmax(out.tensor, out.tensor);
                 check.same_bits(out.tensor, expected);
                 softmax_naive(hidden(scores), out.tensor);
                 check.same_bits(out.tensor, softmax_naive(scores));
                 normalize(hidden(scores), out.tensor);
                 check.same_bits(out.tensor, plain_normalize(scores));
                 check.that(out.guards_hold());
                 out.tensor = hidden(scores);
                 normalize(out.tensor, out.tensor);
                 check.same_bits(out.tensor, plain_normalize(scores));
                 out.tensor = hidden(scores);
                 softmax_naive(out.tensor, out.tensor);
                 check.same_bits(out.tensor, softmax_naive(scores));
               }),
    everywhere("a batch, row by row",
               [](Check& check) {
                 const auto other = numbers<Matrix<float, 3, 21>>(2);
                 const auto batch = hidden(stack(scores, other));
                 check.same_bits(softmax(batch), stack(softmax(scores), softmax(other)));
                 check.same_bits(normalize(batch), stack(normalize(scores), normalize(other)));
                 check.same_bits(softmax_naive(batch), stack(softmax_naive(scores), softmax_naive(other)));
               }),
    everywhere("a view of columns",
               [](Check& check) {
                 const auto wide = hidden(scores);
                 check.same_bits(softmax(columns<5>(wide, 3)), softmax(plain_columns<5>(scores, 3)));
               }),
    everywhere("a score of -infinity weighs nothing",
               [](Check& check) {
                 const auto weights = softmax(hidden(matrix<float>({{-infinity, 2.0f, 2.0f}, {0.0f, -infinity, -infinity}})));
                 check.same_bits(weights, matrix<float>({{0.0f, 0.5f, 0.5f}, {1.0f, 0.0f, 0.0f}}));
               }),
    everywhere("a row of -infinity is a row of zeros",
               [](Check& check) { check.same_bits(softmax(hidden(full<float, 2, 19>(-infinity))), zeros<float, 2, 19>()); }),
    everywhere("a row whose sum is zero is normalized to zeros",
               [](Check& check) {
                 check.equal(normalize(hidden(vector<float>({2.0f, -2.0f, 0.0f}))), zeros<float, 3>());
                 check.equal(normalize(hidden(matrix<float>({{0.0f, 0.0f}, {1.0f, 1.0f}}))), matrix<float>({{0.0f, 0.0f}, {0.5f, 0.5f}}));
               }),
    everywhere("far below the largest score counts as zero",
               [](Check& check) {
                 const auto weights = softmax(hidden(vector<float>({0.0f, -69.0f, -69.5f})));
                 check.that(weights(0) == 1.0f && weights(1) > 0.0f && weights(2) == 0.0f);
                 // The cutoff looks at the scaled score.
                 const auto scaled = softmax(hidden(vector<float>({0.0f, -138.0f, -139.0f})), 0.5f);
                 check.that(scaled(1) == weights(1) && scaled(2) == 0.0f);
               }),
    everywhere("without a scale, what takes part has equal shares",
               [](Check& check) {
                 const auto five = hidden(vector<float>({1.0f, 2.0f, -3.0f, 0.0f, 4.0f}));
                 check.same_bits(softmax(five, 0.0f), softmax(zeros<float, 5>()));
                 check.same_bits(softmax(hidden(vector<float>({-3e38f, 3e38f})), 0.0f), vector<float>({0.5f, 0.5f}));
                 check.same_bits(softmax(hidden(vector<float>({-infinity, 1.0f})), 0.0f), vector<float>({0.0f, 1.0f}));
                 check.same_bits(softmax(hidden(full<float, 40>(-infinity)), 0.0f), zeros<float, 40>());
               }),
    everywhere("scores of 1e10 and 1e-30",
               [](Check& check) {
                 check.same_bits(softmax(hidden(vector<float>({1e10f, 1e10f, -1e10f}))), vector<float>({0.5f, 0.5f, 0.0f}));
                 check.same_bits(softmax(hidden(vector<float>({1e-30f, -1e-30f}))), vector<float>({0.5f, 0.5f}));
                 check.same_bits(softmax(hidden(vector<float>({3e38f, 1e38f, -1e-30f}))), vector<float>({1.0f, 0.0f, 0.0f}));
                 check.same_bits(softmax(hidden(vector<float>({-3e38f, -3e38f}))), vector<float>({0.5f, 0.5f}));
               }),
    at_run_time("the largest minus the smallest float",
                [](Check& check) {
                  check.same_bits(softmax(hidden(vector<float>({3e38f, -3e38f}))), vector<float>({1.0f, 0.0f}));
                }),
    at_run_time("a NaN makes its row NaN, and no other",
                [](Check& check) {
                  for (std::size_t place = 0; place < 21; ++place) {
                    auto m = hidden(scores);
                    m(1, place) = quiet_nan;
                    const auto weights = softmax(m);
                    check.same_bits(row(weights, 0), row(softmax(scores), 0));
                    check.same_bits(row(weights, 1), full<float, 21>(quiet_nan));
                    check.same_bits(row(weights, 2), row(softmax(scores), 2));
                  }
                }),
    at_run_time("a NaN among -infinities stays NaN",
                [](Check& check) {
                  for (std::size_t place = 0; place < 18; ++place) {
                    auto v = hidden(full<float, 18>(-infinity));
                    v(place) = quiet_nan;
                    check.same_bits(softmax(v)(place), quiet_nan);
                  }
                }),
    at_run_time("a score of +infinity makes its row NaN",
                [](Check& check) {
                  check.same_bits(softmax(hidden(vector<float>({1.0f, infinity})))(1), quiet_nan);
                }),
};

}  // namespace

int main() { return run(tests); }
