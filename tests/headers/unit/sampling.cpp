// SPDX-License-Identifier: MIT
//
// Compares the sampled token with an implementation that sorts.
#include "tinyattn/sampling.hpp"
#include "tinyattn/softmax.hpp"

#include <algorithm>

#include "catalogue/draw.hpp"
#include "catalogue/guarded.hpp"

namespace tinyattn::test { namespace {

constexpr auto banned = -infinity;

// Returns the tokens from the most to the least likely; ties in rising order.
template <std::size_t Count>
auto sorted(const Vector<float, Count>& p) {
  std::array<std::size_t, Count> order{};
  for (std::size_t i = 0; i < Count; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p(a) > p(b) || (p(a) == p(b) && a < b); });
  return order;
}

// Sums in double, which keeps small probabilities that float would lose next to 1.
template <std::size_t Count>
double sum_of(const Vector<float, Count>& p) {
  double sum = 0;
  for (const float element : p.elements) sum += static_cast<double>(element);
  return sum;
}

// Keeps the smallest set of the most likely tokens with a sum of at least top_p of the total; zeroes the others.
template <std::size_t Count>
Vector<float, Count> plain_nucleus(const Vector<float, Count>& p, float top_p) {
  const auto order = sorted(p);
  const double wanted = static_cast<double>(top_p) * sum_of(p);
  for (std::size_t size = 1; size <= Count; ++size) {
    Vector<float, Count> kept{};
    for (std::size_t i = 0; i < size; ++i) kept(order[i]) = p(order[i]);
    if (sum_of(kept) >= wanted && sum_of(kept) > 0) return kept;
  }
  return p;
}

template <std::size_t Count>
Token plain_sample(Vector<float, Count> logits, const Sampling& sampling, float fraction) {
  for (float& logit : logits.elements) logit /= sampling.temperature;
  const auto order = sorted(logits);
  for (std::size_t i = sampling.top_k; sampling.top_k != 0 && i < Count; ++i) logits(order[i]) = -infinity;
  Vector<float, Count> p = softmax(logits);
  if (sampling.top_p < 1.0f) p = plain_nucleus(p, sampling.top_p);
  const double bound = static_cast<double>(fraction) * sum_of(p);
  double sum = 0;
  std::size_t i = 0;
  while (i < Count && sum <= bound) sum += static_cast<double>(p(i++));
  return static_cast<Token>(i - 1);
}

// Checks that sampling chooses the token that sorting chooses, with one uniform number per token.
template <class Generator, std::size_t Count>
void check_as_sorted(Check& check, float spread, bool has_ties) {
  Generator generator(17), same(17);
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    auto logits = test::drawn<Vector<float, Count>>(seed);
    for (float& logit : logits.elements) logit = has_ties ? static_cast<float>(static_cast<int>(logit * spread)) : logit * spread;
    if (seed % 5 == 4) logits(seed % Count) = -infinity;
    constexpr float temperatures[] = {1.0f, 0.8f, 1.7f, 0.01f}, top_ps[] = {1.0f, 0.9f, 0.5f, 1e-9f, 0.999f, 0.0f, 0.6f};
    constexpr std::size_t top_ks[] = {0, 1, 3, Count - 1, Count, 64};
    const Sampling sampling{.temperature = temperatures[seed % 4], .top_k = top_ks[seed % 6], .top_p = top_ps[seed % 7]};
    auto copy = logits;
    check.equal(sample(copy, sampling, generator), plain_sample(logits, sampling, uniform(same, 0.0f, 1.0f)));
  }
  check.same_bits(uniform(generator, 0.0f, 1.0f), uniform(same, 0.0f, 1.0f));
}

// Samples one token with a generator of seed 1.
template <std::size_t Count>
constexpr Token drawn(Vector<float, Count> logits, const Sampling& sampling) {
  Philox4x32 generator(1);
  logits = opaque(logits);
  return sample(logits, sampling, generator);
}

constexpr Test tests[] = {
    everywhere("argmax: the lowest token on a tie, of zeros too; a NaN counts as -infinity; the first token if there is nothing else",
               [](Check& check) {
                 check.equal(argmax(opaque(vector<float>({1.0f, 3.0f, -2.0f, 3.0f, 0.5f}))), Token{1});
                 check.equal(argmax(opaque(full<float, 1, 4>(2.0f))), Token{0});
                 struct {
                   Vector<float, 3> logits;
                   Token expected;
                 } constexpr points[] = {
                     {{0.0f, -0.0f, 0.0f}, 0},      {{-0.0f, 0.0f, -1.0f}, 0},         {{banned, banned, -1e30f}, 2},
                     {{banned, banned, banned}, 0}, {{1.0f, infinity, infinity}, 1},   {{1.0f, quiet_nan, 2.0f}, 2},
                     {{quiet_nan, 1.0f, 2.0f}, 2},  {{-quiet_nan, banned, -1e30f}, 2}, {{quiet_nan, banned, quiet_nan}, 0}};
                 for (const auto& [logits, expected] : points) check.equal(argmax(opaque(logits)), expected);
               }),
    everywhere("a temperature of 0, below it or NaN is argmax, and draws nothing",
               [](Check& check) {
                 Mt19937 generator(opaque(3u)), same(3);
                 for (const float temperature : {0.0f, -0.0f, -1.0f, banned, quiet_nan})
                   for (const std::size_t top_k : {0u, 2u}) {
                     auto logits = opaque(vector<float>({quiet_nan, 1.0f, 2.0f}));
                     check.equal(sample(logits, {.temperature = temperature, .top_k = top_k, .top_p = 0.1f}, generator), Token{2});
                   }
                 check.same_bits(uniform(generator, 0.0f, 1.0f), uniform(same, 0.0f, 1.0f));
               }),
    at_run_time("a largest logit that the temperature makes infinite is taken; neither a NaN nor -infinity is drawn",
                [](Check& check) {
                  check.equal(drawn(vector<float>({1.0f, 2.0f, 30.0f, 4.0f}), {.temperature = 1e-38f}), Token{2});
                  check.equal(drawn(vector<float>({3e38f, -3e38f, 3.1e38f}), {.temperature = 0.5f}), Token{2});
                  check.equal(drawn(vector<float>({-3e38f, -1.0f, -3.1e38f}), {.temperature = 1e-38f}), Token{1});
                  check.equal(drawn(vector<float>({1.0f, 2.0f, opaque(infinity)}), {}), Token{2});
                  check.equal(drawn(vector<float>({-1.0f, -0.0f, -2.0f}), {.top_k = 1}), Token{1});
                  const float nan = opaque(quiet_nan);
                  const Sampling two = {.top_k = 2, .top_p = 0.5f};
                  check.equal(drawn(vector<float>({1.0f, nan, 2.0f}), two), Token{2});
                  check.equal(drawn(vector<float>({1.0f, -nan, 2.0f}), two), Token{2});
                  check.equal(drawn(vector<float>({nan, -nan, 2.0f}), {}), Token{2});
                  for (const Sampling& sampling : {Sampling{}, Sampling{.top_k = 2}, Sampling{.top_p = 0.5f}}) {
                    check.equal(drawn(full<float, 3>(banned), sampling), Token{0});
                    check.equal(drawn(vector<float>({banned, 0.0f, banned}), sampling), Token{1});
                  }
                }),
    everywhere("the running sum grows by what a float would not, and the last uniform draws what is not 0",
               [](Check& check) {
                 constexpr std::size_t unlikely = 256;
                 auto shares = full<float, 1 + unlikely>(0x1p-26f);
                 shares(0) = 1.0f - 0x1p-18f;  // so that their sum is 1
                 for (const std::size_t steps : {1u, 2u, 17u, 64u, 65u, 1000u})
                   check.equal(kernel::index_at(shares.data(), shares.size(), 1.0f - 0x1p-24f * opaque(static_cast<float>(steps))),
                               steps <= 64 ? 1 + unlikely - 4 * steps : 0);
                 const auto with_none = opaque(vector<float>({0.25f, 0.75f, 0.0f}));
                 check.equal(kernel::index_at(with_none.data(), 3, opaque(1.0f - 0x1p-24f)), std::size_t{1});
               }),
    at_run_time("unlikely tokens, at each uniform that draws one and by each top_p that keeps some, as doubles have it",
                [](Check& check) {
                  auto logits = full<float, 128>(-17.5f);  // 2.5e-8 each
                  logits(0) = 0.0f;
                  for (const float top_p : {1.0f, 1.0f - 20 * 0x1p-24f, 1.0f - 45 * 0x1p-24f})
                    for (float u = 1.0f - 0x1p-24f; u > 1.0f - 60 * 0x1p-24f; u -= 0x1p-24f) {
                      auto copy = logits;
                      const std::size_t token = kernel::draw<port::scalar>(copy.data(), copy.size(), 1.0f, 0, top_p, u);
                      check.equal(static_cast<Token>(token), plain_sample(logits, {.top_p = top_p}, u));
                    }
                }),
    everywhere("an infinite temperature: what top_k leaves of the largest is equally likely, -infinity and NaN are not drawn",
               [](Check& check) {
                 const auto logits = vector<float>({banned, 1.0f, quiet_nan, 3e38f, -1.0f, banned, 3.0f});
                 const float fractions[] = {0.0f, 0.3f, 0.6f, 1.0f - 0x1p-24f};
                 const auto draws = [&](std::size_t top_k, float top_p, const std::array<std::size_t, 4>& expected) {
                   for (std::size_t i = 0; i < 4; ++i) {
                     auto copy = opaque(logits);
                     check.equal(kernel::draw<port::scalar>(copy.data(), copy.size(), infinity, top_k, top_p, fractions[i]), expected[i]);
                   }
                 };
                 draws(0, 1.0f, {1, 3, 4, 6});
                 draws(0, 0.5f, {1, 1, 3, 3});
                 draws(1, 1.0f, {3, 3, 3, 3});
                 draws(2, 1.0f, {3, 3, 6, 6});
                 draws(6, 1.0f, {1, 3, 4, 6});
                 auto equal = opaque(vector<float>({1.0f, 1.0f, 2.0f}));  // of equal logits the first stays
                 check.equal(kernel::draw<port::scalar>(equal.data(), equal.size(), infinity, 2, 1.0f, 0.25f), std::size_t{0});
                 for (const std::size_t top_k : {0u, 1u, 2u}) {
                   const Sampling hot = {.temperature = opaque(infinity), .top_k = top_k};
                   check.equal(drawn(vector<float>({banned, banned, 1.0f}), hot), Token{2});
                   check.equal(drawn(vector<float>({quiet_nan, banned, quiet_nan}), hot), Token{0});
                   check.equal(drawn(vector<float>({1.0f, banned, infinity, infinity}), hot), Token{2});
                 }
               }),
    at_run_time("the tokens that sorting would give, of ties the lower; one uniform for each, from either generator",
                [](Check& check) {
                  check_as_sorted<Mt19937, 9>(check, 4.0f, false);
                  check_as_sorted<Mt19937, 40>(check, 4.0f, true);
                  check_as_sorted<Philox4x32, 33>(check, 12.0f, false);
                  check_as_sorted<Philox4x32, 2>(check, 2.0f, true);
                  check_as_sorted<Mt19937, 65>(check, 4.0f, true);
                  check_as_sorted<Mt19937, 66>(check, 12.0f, true);
                  check_as_sorted<Mt19937, 100>(check, 1.0f, false);
                }),
    at_run_time("nothing but the logits is written; a view will do",
                [](Check& check) {
                  Guarded<Vector<float, 7>> logits;
                  logits.tensor = test::drawn<Vector<float, 7>>(2);
                  Mt19937 generator(1), same(1);
                  const Sampling sampling{.top_k = 4, .top_p = 0.8f};
                  auto copy = logits.tensor;
                  MatrixView<float, 1, 7, 7> view{copy.data()};
                  check.equal(sample(logits.tensor, sampling, generator), sample(view, sampling, same));
                  check.that(logits.guards_hold());
                }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
