// SPDX-License-Identifier: MIT
//
// Dropout from either generator: which elements it keeps, and what it makes of them.
#include "tinyattn/dropout.hpp"

#include <cstdint>

#include "catalogue/draw.hpp"
#include "catalogue/guarded.hpp"
#include "tinyattn/attention_config.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr auto unit_interval = drawn<Matrix<float, 6, 6>>(1);

constexpr AttentionConfig with_rates{
    .d_in = 2, .d_out = 2, .context_length = 2, .dropout = 0.25, .residual_dropout = 0.5, .num_kv_heads = 3, .rotary_base = 7};

// A copy of a member is made at run time, where Clang finds members of a template argument at wrong places if there is padding.
template <AttentionConfig config>
constexpr void check_copies(Check& check) {
  const DropoutRate rate = config.dropout, residual_rate = config.residual_dropout;
  const auto& kv_heads = config.num_kv_heads;
  const auto& base = config.rotary_base;
  check.that(hidden(rate) == 0.25 && hidden(residual_rate) == 0.5 && hidden(kv_heads) == 3 && hidden(base) == 7);
}

constexpr Test tests[] = {
    everywhere("a copy of a rate is that rate, of a template argument too", check_copies<with_rates>),
    everywhere("rates 0 and 1 draw nothing; a rate of 1 gives +0 whatever was there",
               [](Check& check) {
                 Mt19937 twister(hidden(1u));
                 Mt19937 untouched(1);
                 check.same_bits(dropout(unit_interval, 0.0, twister), unit_interval);
                 check.same_bits(dropout(unit_interval, -0.0, twister), unit_interval);
                 check.same_bits(dropout(unit_interval, 1.0, twister), zeros<float, 6, 6>());
                 check.same_bits(dropout(hidden(vector<float>({quiet_nan, -infinity, -1.0f})), 1.0, twister), zeros<float, 3>());
                 check.equal(twister(), untouched());
                 Philox4x32 philox(hidden(std::uint64_t{1}));
                 check.same_bits(dropout(unit_interval, 0.0, philox), unit_interval);
                 check.same_bits(dropout(unit_interval, 1.0, philox), zeros<float, 6, 6>());
                 check.equal(philox.block(0), Philox4x32(1).block(0));
               }),
    everywhere("two words an element, the first one high, kept below a threshold of 53 bits",
               [](Check& check) {
                 constexpr struct {
                   DropoutRate rate;
                   float share;
                   std::uint64_t threshold;  // ceil((1 - rate) * 2^53)
                 } rates[] = {{0.1, 0.9f, 8106479329266893}, {0.3, 0.7f, 6305039478318694}, {0.99, 0.01f, 90071992547410}};
                 for (const auto& [rate, share, threshold] : rates) {
                   Mt19937 generator(hidden(7u));
                   Mt19937 words(7u);
                   const auto out = dropout(unit_interval, rate, generator);
                   for (std::size_t i = 0; i < out.size(); ++i) {
                     const std::uint64_t high = words();
                     const std::uint64_t both = high << 32 | words();
                     check.same_bits(out.data()[i],
                                     (both & 0x1fffffffffffff) < threshold ? unit_interval.data()[i] * (1.0f / share) : 0.0f);
                   }
                   check.equal(generator(), words());
                 }
               }),
    everywhere("element i takes word i % 4 of Philox's block i / 4, and 1 / (1 - rate) is a float",
               [](Check& check) {
                 const auto x = hidden(drawn<Vector<float, 23>>(2));
                 Philox4x32 generator(hidden(std::uint64_t{123}), 5);
                 const auto out = dropout(x, 0.15, generator);
                 const Philox4x32 stream(123, 5);
                 constexpr std::uint32_t threshold = 3650722202;  // ceil(0.85 * 2^32)
                 static_assert(1.0f / 0.85f != static_cast<float>(1.0 / 0.85));
                 for (std::size_t i = 23; i-- > 0;) {
                   const bool kept = stream.block(i / 4)[i % 4] < threshold;
                   check.same_bits(out(i), kept ? x(i) * (1.0f / 0.85f) : 0.0f);
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
    everywhere("each call takes one stream of Philox, whatever the shape",
               [](Check& check) {
                 Philox4x32 generator(hidden(std::uint64_t{9}), 40);
                 dropout(unit_interval, 0.5, generator);
                 check.equal(generator.block(0), Philox4x32(9, 41).block(0));
                 const auto second = dropout(row(unit_interval, 0), 0.5, generator);
                 Philox4x32 again(9, 41);
                 check.same_bits(second, row(dropout(unit_interval, 0.5, again), 0));
               }),
    everywhere("a batch draws on from item to item; the output may be the input",
               [](Check& check) {
                 Mt19937 whole(hidden(12u));
                 Mt19937 halves(12u);
                 Mt19937 in_place(12u);
                 const auto batch = stack(unit_interval, unit_interval);
                 const auto first = dropout(unit_interval, 0.5, halves);
                 const auto expected = stack(first, dropout(unit_interval, 0.5, halves));
                 check.same_bits(dropout(batch, 0.5, whole), expected);
                 check_in_place(check, expected, batch, [&](auto& m) { dropout(m, 0.5, in_place, m); });
               }),
};

}  // namespace

int main() { return run(tests); }
