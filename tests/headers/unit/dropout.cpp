// SPDX-License-Identifier: MIT
//
// Dropout with either generator: rates, thresholds and streams. ../../answers compares with plain loops.
#include "tinyattn/dropout.hpp"

#include <cstdint>

#include "forms.hpp"
#include "tinyattn/attention_config.hpp"

namespace tinyattn::test { namespace {

constexpr auto unit_interval = drawn<Matrix<float, 6, 6>>(1);

constexpr AttentionConfig with_rates{
    .d_in = 2, .d_out = 2, .context_length = 2, .dropout = 0.25, .residual_dropout = 0.5, .num_kv_heads = 3, .rotary_base = 7};

// Members are copied correctly: at run time Clang misreads members of a template argument that has padding.
template <AttentionConfig config>
constexpr void check_copies(Check& check) {
  const DropoutRate rate = config.dropout, residual_rate = config.residual_dropout;
  const auto& kv_heads = config.num_kv_heads;
  const auto& base = config.rotary_base;
  check.that(opaque(rate) == 0.25 && opaque(residual_rate) == 0.5 && opaque(kv_heads) == 3 && opaque(base) == 7);
}

constexpr Test tests[] = {
    everywhere("a copy of a rate is that rate, of a template argument too", check_copies<with_rates>),
    everywhere("rates 0 and 1 draw nothing; a rate of 1 gives +0 whatever was there",
               [](Check& check) {
                 Mt19937 twister(opaque(1u));
                 Mt19937 untouched(1);
                 check.same_bits(dropout(unit_interval, 0.0, twister), unit_interval);
                 check.same_bits(dropout(unit_interval, -0.0, twister), unit_interval);
                 check.same_bits(dropout(unit_interval, 1.0, twister), zeros<float, 6, 6>());
                 check.same_bits(dropout(opaque(vector<float>({quiet_nan, -infinity, -1.0f})), 1.0, twister), zeros<float, 3>());
                 check.equal(twister(), untouched());
                 Philox4x32 philox(opaque(std::uint64_t{1}));
                 check.same_bits(dropout(unit_interval, 0.0, philox), unit_interval);
                 check.same_bits(dropout(unit_interval, 1.0, philox), zeros<float, 6, 6>());
                 check.equal(philox.block(0), Philox4x32(1).block(0));
               }),
    everywhere("in place",
               [](Check& check) {
                 Philox4x32 generator(opaque(std::uint64_t{7})), same(7);
                 check_in_place(check, dropout(unit_interval, 0.3, same), unit_interval,
                                [&](auto& both) { dropout(both, 0.3, generator, both); });
               }),
    everywhere("a Philox threshold is rounded up",
               [](Check& check) {
                 // ceil(0.9 * 2^32) = 3865470567. The seed was searched for: word 2 of its block 1 is one below that, the largest word that
                 // is kept.
                 check.equal(Philox4x32(opaque(std::uint64_t{992009436})).block(1)[2], 3865470566u);
                 Philox4x32 generator(opaque(std::uint64_t{992009436}));
                 check.same_bits(dropout(ones<float, 8>(), 0.1, generator)(6), 1.0f / 0.9f);
                 // For this seed, word 0 of block 0 equals the threshold, the smallest that is dropped.
                 check.equal(Philox4x32(opaque(std::uint64_t{631432443})).block(0)[0], 3865470567u);
                 Philox4x32 at_threshold(opaque(std::uint64_t{631432443}));
                 check.same_bits(dropout(ones<float, 1>(), 0.1, at_threshold)(0), 0.0f);
               }),
    everywhere("each call takes one stream of Philox, whatever the shape",
               [](Check& check) {
                 Philox4x32 generator(opaque(std::uint64_t{9}), 40);
                 dropout(unit_interval, 0.5, generator);
                 check.equal(generator.block(0), Philox4x32(9, 41).block(0));
                 const auto second = dropout(row(unit_interval, 0), 0.5, generator);
                 Philox4x32 again(9, 41);
                 check.same_bits(second, row(dropout(unit_interval, 0.5, again), 0));
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
