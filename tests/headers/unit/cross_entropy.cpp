// SPDX-License-Identifier: MIT
//
// Cross-entropy compared with exact values; forms of targets. golden/gradients.cpp compares with PyTorch, and answers/ with plain loops.
#include "tinyattn/training/cross_entropy.hpp"

#include <array>

#include "catalogue/guarded.hpp"
#include "exact.hpp"
#include "tinyattn/tensor.hpp"

namespace tinyattn::test { namespace {

constexpr bool is_nan(float x) { return x != x; }

// log(sum of e^logit) - the target's logit.
template <std::size_t Count>
constexpr double exact_loss(const Vector<float, Count>& logits, std::size_t target) {
  double largest = static_cast<double>(logits(0)), sum = 0;
  for (const float logit : logits.elements) largest = static_cast<double>(logit) > largest ? static_cast<double>(logit) : largest;
  for (const float logit : logits.elements) sum += exact_exp(static_cast<double>(logit) - largest);
  return exact_log(sum) + largest - static_cast<double>(logits(target));
}

// Both forms of the mean; one also writes a gradient, whose factor does not scale the mean.
constexpr float mean_of(Check& check, const auto& logits, const auto& targets) {
  auto gradient = logits;
  const float mean = cross_entropy(logits, targets, gradient, 0.5f);
  check.same_bits(cross_entropy(logits, targets), mean);
  return mean;
}

constexpr Test tests[] = {
    everywhere("a loss is near the exact one: of likely, of unlikely and of almost impossible targets",
               [](Check& check) {
                 const auto logits = opaque(vector({0.5f, -3.0f, 12.0f, 11.5f, -40.0f, 0.0f, 2.0f}));
                 for (std::size_t target = 0; target < logits.size(); ++target) {
                   const double exact = exact_loss(logits, target);
                   check.near(mean_of(check, logits, target), static_cast<float>(exact), 2e-6f * static_cast<float>(exact) + 1e-7f);
                 }
                 check.equal(mean_of(check, vector({7.0f}), 0), 0.0f);
               }),
    everywhere("targets may be a tensor, an array, a view or, for one row, a token; rows may be columns of a matrix, or of a batch",
               [](Check& check) {
                 Matrix<float, 2, 5> wide = opaque(Matrix<float, 2, 5>{{1, 2, 3, 100, 100, 3, 2, 5, 100, 100}});
                 const MatrixView<float, 2, 3, 5> view{wide.data()};
                 const Matrix<float, 2, 3> logits{{1, 2, 3, 3, 2, 5}};
                 const Token array[] = {2, 0};
                 const std::array<Token, 2> standard{2, 0};
                 const float mean = mean_of(check, logits, vector<Token>({2, 0}));
                 check.same_bits(cross_entropy(logits, array), mean);
                 check.same_bits(cross_entropy(logits, standard), mean);
                 check.same_bits(cross_entropy(logits, TokenView(array)), mean);
                 check.same_bits(cross_entropy(Tensor<float, 2, 1, 3>{{1, 2, 3, 3, 2, 5}}, Matrix<Token, 2, 1>{{2, 0}}), mean);
                 Matrix<float, 2, 3> gradient;
                 check.same_bits(cross_entropy(view, array, gradient), mean);
                 check.same_bits(cross_entropy(view, array, view), mean);
                 for (std::size_t i = 0; i < 6; ++i) check.same_bits(view(i / 3, i % 3), gradient(i / 3, i % 3));
                 check.equal(wide(0, 3) + wide(1, 4), 200.0f);
                 const auto row = opaque(vector({1.0f, 2.0f, 3.0f}));
                 check.same_bits(mean_of(check, row, Token{1}), mean_of(check, row, 1));
                 check.same_bits(mean_of(check, row, Token{1}), mean_of(check, row, vector<Token>({1})));
               }),
    everywhere("if no target counts, the mean is NaN and the gradient 0",
               [](Check& check) {
                 auto logits = opaque(Matrix<float, 2, 3>{{1, 2, 3, 4, 5, 6}});
                 check.that(is_nan(cross_entropy(logits, full<Token, 2>(ignore_index))));
                 check.that(is_nan(cross_entropy(logits, full<Token, 2>(ignore_index), logits)));
                 check.same_bits(logits, Matrix<float, 2, 3>{});
               }),
    everywhere("a target that is no token, or another number of them, makes the mean NaN and writes nothing",
               [](Check& check) {
                 const auto logits = opaque(Matrix<float, 2, 3>{{1, 2, 3, 4, 5, 6}});
                 const auto row = opaque(vector({1.0f, 2.0f, 3.0f}));
                 auto unchanged = logits;
                 const Token targets[] = {1, 3, 0};
                 check.that(is_nan(cross_entropy(unchanged, vector<Token>({1, 3}), unchanged)));
                 for (const std::size_t size : {0u, 1u, 3u})
                   check.that(is_nan(cross_entropy(unchanged, TokenView(targets, size), unchanged)));
                 check.same_bits(unchanged, logits);
                 for (const int target : {3, -1, -100, 65536, 65537}) check.that(is_nan(cross_entropy(row, target)));
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
