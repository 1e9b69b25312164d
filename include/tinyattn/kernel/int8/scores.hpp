// SPDX-License-Identifier: MIT
//
// Scores of integers, and the weights of values that a softmax makes of them, in integers: any
// order of the sums gives the same bits.
#pragma once

#include "tinyattn/kernel/int8/cache.hpp"
#include "tinyattn/port/score_block.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// --- Powers of two ---

// The powers 32767 * 2^(-i / 32), rounded to r[i], as what their interpolation takes: 32 r[i] + 31,
// and from bit 20 on r[i] - r[i + 1].
inline constexpr auto powers_of_two = [] {
  struct Powers {
    std::uint32_t at[32];
  } powers{};
  constexpr auto root = static_cast<double>(0x1f50765b6e4540) / static_cast<double>(1LL << 53);
  double power = 32767 * root;
  std::uint32_t high = 32767;
  for (std::uint32_t& entry : powers.at) {
    const std::uint32_t low = static_cast<std::uint32_t>(2 * power + 1) / 2;
    entry = (high - low) << 20 | (32 * high + 31);
    high = low;
    power *= root;  // 2^(-1 / 32), as a quotient, which -fsingle-precision-constant leaves
  }
  return powers;
}();

template <class Port>
TINYATTN_KERNEL Naturals<Port> powers_at(Naturals<Port> index) noexcept {
  if constexpr (Port::lanes == 1)
    return powers_of_two.at[index];
  else
    return reinterpret_cast<Naturals<Port>>(
        Port::look_up_of_32(powers_of_two.at, reinterpret_cast<Integers<Port>>(index)));
}

// Returns 32767 * 2^(-below / 1024), interpolated between 32nds, shifted right; 0 from 2^-16 on.
template <class Port>
TINYATTN_KERNEL Naturals<Port> power_of_two(Naturals<Port> below, unsigned right) noexcept {
  const auto entry = powers_at<Port>(below >> 5 & 31);
  const auto sum = (entry & 0xfffff) - (entry >> 20) * (below & 31);
  return shift_right<Port>(sum, lesser((below >> 10) + (5 + right), Naturals<Port>{} + 63));
}

// --- Scores ---

// How scores of a layer are computed from sums of integers.
struct ScoreRule {
  unsigned shift;              // which leaves a sum 15 bits and its sign
  std::int32_t multiplier[8];  // log2(e) * scale of scores * (8 + s % 8) / 16, times 2^15
  unsigned power_shift;        // of powers, so that the sum of a context has 32 bits
};
template <class Port>
constexpr ScoreRule score_rule(float scale, std::size_t head_dim,
                               std::size_t context_length) noexcept {
  ScoreRule rule{};
  const std::size_t most = ((1u << input_bits(head_dim)) - 1) * 127 * head_dim;
  while (most >> rule.shift > 32767) ++rule.shift;
  constexpr float unit = 0x1.715476p+0f * 2048.0f;
  constexpr float multiples[] = {unit * 8.0f,  unit * 9.0f,  unit * 10.0f, unit * 11.0f,
                                 unit * 12.0f, unit * 13.0f, unit * 14.0f, unit * 15.0f};
  for (std::size_t i = 0; i < 8; ++i)
    rule.multiplier[i] = static_cast<std::int32_t>(Port::one_lane::fma(scale, multiples[i], 0.5f));
  while ((32767u >> rule.power_shift) > 0x7fffffff / 127 / context_length) ++rule.power_shift;
  return rule;
}

template <class Port>
TINYATTN_KERNEL Integers<Port> multipliers_at(const std::int32_t* table,
                                              Integers<Port> index) noexcept {
  if constexpr (Port::lanes == 1)
    return table[index];
  else
    return Port::look_up_of_8(table, index);
}

// Returns a score in 1024ths of a power of two, from a sum of products: `exponent` is that of the
// query, `scale` that of the key. A score from 0x5fffffff on, which no product exceeds, counts as
// that.
constexpr std::int32_t score_of(std::int32_t sum, const ScoreRule& rule, std::int32_t exponent,
                                std::uint32_t scale) noexcept {
  const std::int32_t rounded = (sum >> rule.shift) + (sum >> (rule.shift - 1) & 1);
  const std::int32_t product = rounded * rule.multiplier[scale % 8];
  const std::int32_t right =
      1 - static_cast<std::int32_t>(rule.shift) - exponent - scale_exponent(scale);
  if (right >= 0) return product >> lesser(right, 31);
  const std::int32_t left = lesser(-right, 31), most = 0x5fffffff >> left;
  return product > most ? 0x5fffffff : product < -most ? -0x5fffffff : product * (1 << left);
}

// What is found over all keys that a query attends to.
struct Maxima {
  std::int32_t score = -0x7fffffff;
  std::uint32_t key_scale = 0, value_scale = 0;
};

// Clears the last vector of sums before they are written, if vectors will read beyond the last.
template <class Port>
TINYATTN_KERNEL void clear_last_vector(std::uint32_t* sums, std::size_t count) noexcept {
  if constexpr (Port::lanes > 1 && !scales_sums<Port>)
    __builtin_memset(sums + (padded<Port>(count) - Port::lanes), 0, Port::lanes * sizeof(*sums));
}

// Computes the scores of a block of keys. Those of keys that are shifted left may be any.
template <class Port>
TINYATTN_KERNEL void find_scores(port::score_block& block) noexcept {
  using Words = Integers<Port>;
  Words most = Words{} + block.most, key_scales{}, value_scales{};
  for_each_vector<Port>(block.count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const Words of_keys = load_bytes<Port>(block.key_scales + at.j, at.count),
                of_values = load_bytes<Port>(block.value_scales + at.j, at.count);
    const Words sum = load_and_add<Port>(block.sums + at.j, block.correction);
    const Words product = halved<Words>(sum >> (block.shift - 1)) *
                          multipliers_at<Port>(block.multipliers, of_keys & 7);
    Words score = shift_right<Port>(product, block.right - (of_keys >> 3));
    if constexpr (!at.is_whole) score = first_integers<Port>(score, at.count, block.most);
    store_integers<Port>(block.scores + at.j, score);
    most = greater(most, score);
    key_scales = greater(key_scales, of_keys);
    value_scales = greater(value_scales, of_values);
  });
  block.most = static_cast<std::int32_t>(greatest_of_integers<Port>(most));
  block.key_scale = greatest_of_integers<Port>(key_scales);
  block.value_scale = greatest_of_integers<Port>(value_scales);
}

// The same for any keys: if one is shifted left, all again, one after the other.
template <class Port>
TINYATTN_KERNEL void find_any_scores(port::score_block& block, const ScoreRule& rule,
                                     std::int32_t exponent) noexcept {
  if constexpr (requires { Port::find_scores(block); })
    Port::find_scores(block);
  else
    find_scores<ShiftingPort<Port>>(block);
  if (static_cast<std::int32_t>(block.key_scale / 8) <= block.right) return;
  block.most = Maxima{}.score;
  for (std::size_t i = 0; i < block.count; ++i) {
    const auto sum = static_cast<std::int32_t>(block.sums[i] + block.correction);
    block.scores[i] = score_of(sum, rule, exponent, block.key_scales[i]);
    block.most = greater(block.most, block.scores[i]);
  }
}

// Computes the scores of the first `end` keys.
template <class Port>
TINYATTN_KERNEL Maxima compute_scores(IntegerRows query, const Int8CachedHead& head,
                                      std::size_t end, const ScoreRule& rule,
                                      std::int32_t* scores) noexcept {
  const std::int32_t exponent = static_cast<std::int32_t>(bits_of(query.scale()) >> 23) - 127;
  const auto shift = static_cast<std::int32_t>(rule.shift);
  const std::int32_t right = lesser(1 + scale_bias - shift - exponent, 63);
  Maxima maxima;
  std::uint32_t sums[sum_columns<Port>];
  for (std::size_t j = 0; j < end; j += sum_columns<Port>) {
    const std::size_t count = minimum(sum_columns<Port>, end - j);
    clear_last_vector<ShiftingPort<Port>>(sums, count);
    integer_dots<Port, 1>(query, head.keys.from(j), count, sums);
    port::score_block block{
        sums,  scores + j, head.key_scales + j, head.value_scales + j, count, rule.multiplier,
        shift, right,      query.correction()};
    find_any_scores<Port>(block, rule, exponent);
    maxima.score = greater(maxima.score, block.most);
    maxima.key_scale = greater(maxima.key_scale, block.key_scale);
    maxima.value_scale = greater(maxima.value_scale, block.value_scale);
  }
  return maxima;
}

// --- Weights ---

// The sums of powers of two, and of the weights of values, over all keys.
struct Totals {
  std::uint32_t powers = 0, weights = 0;
};

// Turns scores into weights of values: powers of two times the scale of their value, in 16ths of
// the largest scale.
template <class Port>
TINYATTN_KERNEL Totals weigh(std::int32_t* scores, const std::uint8_t* value_scales,
                             std::size_t end, const Maxima& maxima,
                             const ScoreRule& rule) noexcept {
  const std::uint32_t right = 4 + maxima.value_scale / 8;
  const auto most = static_cast<std::uint32_t>(maxima.score);
  const unsigned power_shift = rule.power_shift;
  if constexpr (requires { Port::weigh(scores, value_scales, end, 0u, right, 0u, nullptr); }) {
    const std::uint64_t both =
        Port::weigh(scores, value_scales, end, most, right, power_shift, powers_of_two.at);
    return {static_cast<std::uint32_t>(both), static_cast<std::uint32_t>(both >> 32)};
  } else {
    using Shifting = ShiftingPort<Port>;
    using Words = Integers<Shifting>;
    using Unsigned = Naturals<Shifting>;
    Words powers{}, weights{};
    for_each_vector<Shifting>(end, [&](auto at) TINYATTN_INLINE_LAMBDA {
      const Words scale = load_bytes<Shifting>(value_scales + at.j, at.count);
      const Unsigned below =
          most - __builtin_bit_cast(Unsigned, load_and_add<Shifting>(scores + at.j, 0));
      const Unsigned power = power_of_two<Shifting>(below, power_shift);
      const Unsigned product = power * __builtin_bit_cast(Unsigned, (scale & 7) | 8);
      const Unsigned counts = right - 1 - __builtin_bit_cast(Unsigned, scale >> 3);
      const auto weight =
          __builtin_bit_cast(Words, halved<Unsigned>(shift_right<Shifting>(product, counts)));
      store_integers<Shifting>(scores + at.j, weight);
      powers += __builtin_bit_cast(Words, power);
      weights += weight;
    });
    return {sum_of_integers<Shifting>(powers), sum_of_integers<Shifting>(weights)};
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
