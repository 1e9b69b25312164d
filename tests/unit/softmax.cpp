// SPDX-License-Identifier: MIT
//
// Softmax and its relatives: sixteen lanes, a largest score taken out, a cutoff, and what happens to a row of nothing.
#include "tinyattn/softmax.hpp"

#include "plain.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr auto scores = numbers<Matrix<float, 3, 21>>(1);
constexpr auto other_scores = numbers<Matrix<float, 3, 21>>(2);

constexpr auto plain_softmax_of = [](const auto& m) { return plain_softmax(m, 1.0f, sees_everything); };

constexpr auto plain_normalize = [](auto m) {
  for (std::size_t i = 0; i < m.extent(0); ++i) {
    const float sum = plain_sum(m.extent(1), [&](std::size_t j) { return m(i, j); });
    for (std::size_t j = 0; j < m.extent(1); ++j) m(i, j) *= 1.0f / sum;
  }
  return m;
};

constexpr auto plain_softmax_naive = [](auto m) {
  for (float& element : m.elements) element = exp(element);
  return plain_normalize(m);
};

// By value, of a batch, of a view, into an output and in place.
constexpr void check_forms(Check& check, auto operation, auto plain) {
  check.same_bits(operation(hidden(scores)), plain(scores));
  check.same_bits(operation(hidden(stack(scores, other_scores))), stack(plain(scores), plain(other_scores)));
  check.same_bits(operation(columns<5>(scores, 3)), plain(plain_columns<5>(scores, 3)));
  check_output(check, plain(scores), [&](auto& out) { operation(hidden(scores), out); });
  check_in_place(check, plain(scores), scores, [&](auto& m) { operation(m, m); });
}

constexpr Test tests[] = {
    everywhere("known weights: equal shares, e, e^2 and e^3 over their sum, and nothing for -infinity",
               [](Check& check) {
                 check.same_bits(softmax(hidden(full<float, 4>(3.0f))), full<float, 4>(0.25f));
                 check.same_bits(softmax(hidden(vector<float>({-1e30f}))), vector<float>({1.0f}));
                 check.same_bits(normalize(hidden(vector<float>({1.0f, 2.0f, 5.0f}))), vector<float>({0.125f, 0.25f, 0.625f}));
                 const auto expected = vector<float>({0.0900305732f, 0.244728471f, 0.665240956f});
                 check.near(softmax(hidden(vector<float>({1.0f, 2.0f, 3.0f}))), expected, 1e-7f);
                 check.near(softmax_naive(hidden(vector<float>({1.0f, 2.0f, 3.0f}))), expected, 1e-7f);
                 check.near(softmax(hidden(vector<float>({1001.0f, 1002.0f, 1003.0f}))), expected, 1e-7f);
                 check.same_bits(softmax(hidden(matrix<float>({{-infinity, 2.0f, 2.0f}, {0.0f, -infinity, -infinity}}))),
                                 matrix<float>({{0.0f, 0.5f, 0.5f}, {1.0f, 0.0f, 0.0f}}));
               }),
    everywhere("in each form the bits of plain loops, and nothing beside them",
               [](Check& check) {
                 check_forms(
                     check, [](auto&&... m) { return softmax(m...); }, plain_softmax_of);
                 check_forms(
                     check, [](auto&&... m) { return normalize(m...); }, plain_normalize);
                 check_forms(
                     check, [](auto&&... m) { return softmax_naive(m...); }, plain_softmax_naive);
                 check.same_bits(softmax(hidden(scores), 0.353553385f), plain_softmax(scores, 0.353553385f, sees_everything));
               }),
    everywhere("a row of -infinity, and one whose sum is zero, is a row of zeros",
               [](Check& check) {
                 check.same_bits(softmax(hidden(full<float, 2, 19>(-infinity))), zeros<float, 2, 19>());
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
    at_run_time("a NaN or +infinity makes its row NaN, and no other; a difference of -infinity does not",
                [](Check& check) {
                  for (std::size_t place = 0; place < 21; ++place) {
                    auto m = hidden(scores);
                    m(1, place) = quiet_nan;
                    const auto weights = softmax(m);
                    for (std::size_t i = 0; i < 3; ++i)
                      check.same_bits(row(weights, i), i == 1 ? full<float, 21>(quiet_nan) : row(softmax(scores), i));
                    auto v = hidden(full<float, 21>(-infinity));
                    v(place) = quiet_nan;
                    check.same_bits(softmax(v)(place), quiet_nan);
                  }
                  check.same_bits(softmax(hidden(vector<float>({3e38f, -3e38f}))), vector<float>({1.0f, 0.0f}));
                  check.same_bits(softmax(hidden(vector<float>({1.0f, infinity}))), full<float, 2>(quiet_nan));
                }),
};

}  // namespace

int main() { return run(tests); }
