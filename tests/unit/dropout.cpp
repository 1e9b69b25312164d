// SPDX-License-Identifier: MIT
//
// Dropout from either generator: which elements it keeps, what it makes of them, and how often.
#include "tinyattn/dropout.hpp"

#include <array>
#include <cstdint>

#include "plain.hpp"
#include "support/check.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr double draws = 1000000;

template <class Generator>
double count_kept(DropoutRate rate, Generator generator) {
  static constexpr auto part = ones<float, 250>();
  static Vector<float, 250> out;
  double kept = 0;
  for (int i = 0; i < 4000; ++i) {
    out = dropout(part, rate, generator);
    for (const float element : out.elements) kept += element != 0.0f;
  }
  return kept;
}

// Five standard deviations of a binomial distribution: one in two million runs lies outside by chance.
constexpr bool inside_interval(double kept, double probability) {
  const double distance = kept - draws * probability;
  return distance * distance <= 25.0 * draws * probability * (1.0 - probability);
}

constexpr auto unit_interval = numbers<Matrix<float, 6, 6>>(1);

constexpr Test tests[] = {
    everywhere("rates 0 and 1 draw nothing",
               [](Check& check) {
                 Mt19937 twister(hidden(1u));
                 Mt19937 untouched(1);
                 check.same_bits(dropout(unit_interval, 0.0, twister), unit_interval);
                 check.same_bits(dropout(unit_interval, -0.0, twister), unit_interval);
                 check.same_bits(dropout(unit_interval, 1.0, twister), zeros<float, 6, 6>());
                 check.equal(twister(), untouched());
                 Philox4x32 philox(hidden(std::uint64_t{1}));
                 check.same_bits(dropout(unit_interval, 0.0, philox), unit_interval);
                 check.same_bits(dropout(unit_interval, 1.0, philox), zeros<float, 6, 6>());
                 check.equal(philox.block(0), Philox4x32(1).block(0));
               }),
    at_run_time("a rate of 1 gives +0 whatever was there",
                [](Check& check) {
                  Mt19937 generator(1);
                  check.same_bits(dropout(hidden(vector<float>({quiet_nan, -infinity, -1.0f})), 1.0, generator), zeros<float, 3>());
                }),
    // torch.manual_seed(123); torch.nn.Dropout(0.5)(torch.ones(6, 6)), PyTorch on a CPU without MKL
    everywhere("the mask that torch draws",
               [](Check& check) {
                 Mt19937 generator(hidden(123u));
                 check.same_bits(dropout(ones<float, 6, 6>(), 0.5, generator), matrix<float>({{2.0f, 2.0f, 0.0f, 2.0f, 2.0f, 0.0f},
                                                                                              {0.0f, 0.0f, 0.0f, 2.0f, 0.0f, 2.0f},
                                                                                              {2.0f, 2.0f, 2.0f, 2.0f, 0.0f, 2.0f},
                                                                                              {0.0f, 2.0f, 2.0f, 0.0f, 0.0f, 2.0f},
                                                                                              {0.0f, 2.0f, 0.0f, 2.0f, 0.0f, 2.0f},
                                                                                              {0.0f, 2.0f, 2.0f, 2.0f, 2.0f, 0.0f}}));
               }),
    everywhere("two words an element, the first one high, kept below a threshold of 53 bits",
               [](Check& check) {
                 Mt19937 generator(hidden(7u));
                 Mt19937 words(7u);
                 const auto out = dropout(unit_interval, 0.3, generator);
                 // ceil(0.7 * 2^53): the double nearest to 1 - 0.3 times 2^53 is this integer.
                 constexpr std::uint64_t threshold = 6305039478318694;
                 for (std::size_t i = 0; i < out.size(); ++i) {
                   const std::uint64_t high = words();
                   const std::uint64_t both = high << 32 | words();
                   const bool kept = (both & 0x1fffffffffffff) < threshold;
                   check.same_bits(out.data()[i], kept ? unit_interval.data()[i] * (1.0f / 0.7f) : 0.0f);
                 }
                 check.equal(generator(), words());
               }),
    everywhere("element i takes word i % 4 of Philox's block i / 4",
               [](Check& check) {
                 const auto x = hidden(numbers<Vector<float, 23>>(2));
                 Philox4x32 generator(hidden(std::uint64_t{123}), 5);
                 const auto out = dropout(x, 0.25, generator);
                 const Philox4x32 stream(123, 5);
                 for (std::size_t i = 23; i-- > 0;) {
                   const bool kept = stream.block(i / 4)[i % 4] < 0xc0000000u;
                   check.same_bits(out(i), kept ? x(i) * (1.0f / 0.75f) : 0.0f);
                 }
               }),
    everywhere("a Philox threshold is rounded up",
               [](Check& check) {
                 // ceil(0.9 * 2^32) = 3865470567. Of this seed, sought for it, word 2 of block 1 is one below: the last one kept.
                 check.equal(Philox4x32(hidden(std::uint64_t{992009436})).block(1)[2], 3865470566u);
                 Philox4x32 generator(hidden(std::uint64_t{992009436}));
                 check.same_bits(dropout(ones<float, 8>(), 0.1, generator)(6), 1.0f / 0.9f);
                 // And of this one, word 0 of block 0 is the threshold: the first that is dropped.
                 check.equal(Philox4x32(hidden(std::uint64_t{631432443})).block(0)[0], 3865470567u);
                 Philox4x32 at_threshold(hidden(std::uint64_t{631432443}));
                 check.same_bits(dropout(ones<float, 1>(), 0.1, at_threshold)(0), 0.0f);
               }),
    everywhere("each call takes one stream of Philox",
               [](Check& check) {
                 Philox4x32 generator(hidden(std::uint64_t{9}), 40);
                 dropout(unit_interval, 0.5, generator);
                 check.equal(generator.block(0), Philox4x32(9, 41).block(0));
                 const auto second = dropout(unit_interval, 0.5, generator);
                 Philox4x32 again(9, 41);
                 check.same_bits(second, dropout(unit_interval, 0.5, again));
               }),
    everywhere("a shape does not matter to Philox: the same elements, the same fate",
               [](Check& check) {
                 Philox4x32 flat(hidden(std::uint64_t{3}));
                 Philox4x32 square(3);
                 Vector<float, 36> x{};
                 for (std::size_t i = 0; i < 36; ++i) x(i) = unit_interval.data()[i];
                 check.same_bits(dropout(x, 0.5, flat), dropout(unit_interval, 0.5, square));
               }),
    everywhere("what is kept is multiplied by 1 / (1 - rate), a float",
               [](Check& check) {
                 Mt19937 generator(hidden(11u));
                 const auto out = dropout(full<float, 40>(3.0f), 0.15, generator);
                 // 1 / 0.85 in double would round to the next float.
                 const float scale = 1.0f / static_cast<float>(1.0 - 0.15);
                 for (const float element : out.elements) check.that(element == 0.0f || element == 3.0f * scale);
               }),
    everywhere("a batch draws on from item to item",
               [](Check& check) {
                 Mt19937 whole(hidden(12u));
                 Mt19937 halves(12u);
                 const auto batch = dropout(stack(unit_interval, unit_interval), 0.5, whole);
                 const auto first = dropout(unit_interval, 0.5, halves);
                 check.same_bits(batch, stack(first, dropout(unit_interval, 0.5, halves)));
               }),
    at_run_time("the rate of a million draws: Mt19937",
                [](Check& check) {
                  check.that(inside_interval(count_kept(0.1, Mt19937(1)), 0.9));
                  check.that(inside_interval(count_kept(0.5, Mt19937(2)), 0.5));
                  check.that(inside_interval(count_kept(0.99, Mt19937(3)), 0.01));
                }),
    at_run_time("the rate of a million draws: Philox",
                [](Check& check) {
                  check.that(inside_interval(count_kept(0.1, Philox4x32(1)), 0.9));
                  check.that(inside_interval(count_kept(0.5, Philox4x32(2)), 0.5));
                  check.that(inside_interval(count_kept(0.99, Philox4x32(3)), 0.01));
                }),
};

}  // namespace

int main() { return run(tests); }
