// SPDX-License-Identifier: MIT
//
// A cache of int8: the keys and values of a head and token are integers with one scale, and their
// attention is computed in integers. So it takes a quarter of the memory, and any order of the sums
// gives the same bits.
#pragma once

#include "tinyattn/kernel/cache.hpp"
#include "tinyattn/port/score_block.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Rows of a cache are padded to eights: heads are narrow.
constexpr std::size_t padded_to_eight(std::size_t count) noexcept { return (count + 7) / 8 * 8; }

// The keys and values of one layer, as codes of int8 weights: integers from -127 to 127, plus 128.
struct Int8Cached {
  std::uint8_t* keys;          // [kv heads, context_length, padded head_dim]
  std::uint8_t* values;        // transposed: [kv_width, padded context_length]
  std::uint8_t* key_scales;    // [kv heads, context_length]
  std::uint8_t* value_scales;  // [kv heads, context_length]
  std::size_t context_length;
};

// --- Scales of eight bits ---

// A scale is (8 + s % 8) * 2^(s / 8 - 25), from 2^-22 to 896: about the range of half precision. A
// head with an element from 114,240 on, or with a NaN, has no_scale: all its attention is NaN.
inline constexpr std::uint32_t no_scale = 255;
inline constexpr std::int32_t scale_bias = 25;
constexpr std::int32_t scale_exponent(std::uint32_t scale) noexcept {
  return static_cast<std::int32_t>(scale / 8) - scale_bias;
}

// Returns the least scale with which no element rounds to more than 127 steps; `magnitude` has the
// bits of the largest. The limits are 127.5 steps of 9 to 16 times a power of two: a mantissa from
// 0xf7000 on in steps of 0xff000, of which there are (n + 1) * 257 >> 16 in n.
constexpr std::uint32_t scale_of(std::uint32_t magnitude) noexcept {
  constexpr std::int32_t first = 127 - scale_bias + 10;
  const std::uint32_t limits = ((magnitude & 0x7fffff) / 0x1000 + 9) * 257 >> 16;
  const std::int32_t steps = (static_cast<std::int32_t>(magnitude >> 23) - first) * 8 + 1 +
                             static_cast<std::int32_t>(limits);
  return static_cast<std::uint32_t>(steps < 0 ? 0
                                              : minimum(static_cast<std::size_t>(steps), no_scale));
}

// How x / scale is rounded: a left-aligned mantissa is shifted right by `places` minus its
// exponent, to 16ths; the quotient by 8 to 15 is a product with a reciprocal, 0 for no_scale.
struct Divisor {
  std::uint32_t places, reciprocal;
};
inline constexpr std::uint16_t reciprocals[] = {16384, 14563, 13107, 11915, 10922,
                                                10082, 9362,  8738};  // 2^17 / 8 to 2^17 / 15
constexpr Divisor divisor_of(std::uint32_t scale) noexcept {
  return {scale / 8 + (27 + 127 - scale_bias),
          scale == no_scale ? 0u : std::uint32_t{reciprocals[scale % 8]}};
}

// Returns the codes of floats, of which these are the bits.
template <class Port>
TINYATTN_KERNEL Integers<Port> codes_of(Integers<Port> bits, const Divisor& divisor) noexcept {
  const auto x = __builtin_bit_cast(Naturals<Port>, bits);
  const auto right = divisor.places - (x << 1 >> 24);
  const auto sixteenths = shift_right<Port>(
      x << 8 | 0x80000000u, Port::lanes == 1 ? right : lesser(right, Naturals<Port>{} + 63));
  const auto steps =
      __builtin_bit_cast(Integers<Port>, (sixteenths * divisor.reciprocal + (1u << 20)) >> 21);
  return ((steps ^ bits >> 31) - (bits >> 31)) + 128;
}

// Writes the codes of one head of one token, `step` apart, and returns their scale.
template <class Port>
constexpr std::uint8_t encode(const float* x, std::size_t count, std::uint8_t* codes,
                              std::size_t step) noexcept {
  const std::uint32_t scale = scale_of(magnitude_bits<IntegerPort<Port>>(x, count));
  const Divisor divisor = divisor_of(scale);
  if constexpr (requires { Port::encode(x, count, codes, step, 0u, 0u); }) {
    Port::encode(x, count, codes, step, divisor.places, divisor.reciprocal);
  } else {
    using Shifting = ShiftingPort<Port>;
    for_each_vector<Shifting>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      std::int32_t some[Shifting::lanes];
      store_integers<Shifting>(
          some, codes_of<Shifting>(as_integers<Shifting>(at.load(x, 0.0f)), divisor));
      for (std::size_t i = 0; i < at.count; ++i)
        codes[(at.j + i) * step] = static_cast<std::uint8_t>(some[i]);
    });
  }
  return static_cast<std::uint8_t>(scale);
}

// Stores the keys of `rows` tokens in the rows of the cache from `first` on.
template <class Port>
TINYATTN_KERNEL void store_keys(const auto& layer, const Int8Cached& cache, std::size_t first,
                                std::size_t rows, Output keys) noexcept {
  const std::size_t dim = layer.head_dim, context = cache.context_length;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t head = 0; head < kv_width(layer) / dim; ++head) {
      const std::size_t row = head * context + first + i;
      std::uint8_t* const codes = cache.keys + row * padded_to_eight(dim);
      cache.key_scales[row] = encode<Port>(keys.at(i, head * dim), dim, codes, 1);
    }
}

// Computes their values from the input of the layer, in `values`, and stores them.
template <class Port>
TINYATTN_KERNEL void store_values(const auto& layer, const Int8Cached& cache, std::size_t first,
                                  std::size_t rows, const auto& x, Output values) noexcept {
  const std::size_t dim = layer.head_dim, context = cache.context_length, width = kv_width(layer);
  const std::size_t step = padded_to_eight(context);
  project_few<Port>(rows, layer.d_in, width, x, layer.value, values);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t head = 0; head < width / dim; ++head) {
      std::uint8_t* const codes = cache.values + head * dim * step + first + i;
      cache.value_scales[head * context + first + i] =
          encode<Port>(values.at(i, head * dim), dim, codes, step);
    }
}

// --- Softmax in integers ---

// The powers 32767 * 2^(-i / 32), rounded to r[i], as what their interpolation takes: 32 r[i] + 31,
// and from bit 20 on r[i] - r[i + 1].
inline constexpr auto powers_of_two = [] {
  struct Powers {
    std::uint32_t at[32];
  } powers{};
  constexpr auto root = static_cast<double>(0x1f50765b6e4540) / static_cast<double>(1ll << 53);
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
  for (std::size_t i = 0; i < 8; ++i)
    rule.multiplier[i] = static_cast<std::int32_t>(
        Port::one_lane::fma(scale, 0x1.715476p+0f * 2048.0f * static_cast<float>(8 + i), 0.5f));
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

// --- Attention ---

// What a cache holds of one head.
struct Int8CachedHead {
  Codes keys;                        // [context_length, padded head_dim]
  Codes values;                      // [head_dim, padded context_length]
  const std::uint8_t* key_scales;    // [context_length]
  const std::uint8_t* value_scales;  // [context_length]

  // Returns the keys from j on; values stay.
  TINYATTN_KERNEL Int8CachedHead from(std::size_t j) const noexcept {
    return {keys.from(j), values, key_scales + j, value_scales + j};
  }
};
TINYATTN_KERNEL Int8CachedHead head_of(const Int8Cached& cache, std::size_t dim,
                                       std::size_t head) noexcept {
  const std::size_t key_row = padded_to_eight(dim), context = cache.context_length;
  const std::size_t value_row = padded_to_eight(context);
  return {{cache.keys + head * context * key_row, key_row, key_row},
          {cache.values + head * dim * value_row, value_row, value_row},
          cache.key_scales + head * context,
          cache.value_scales + head * context};
}

// What is found over all keys that a query attends to.
struct Maxima {
  std::int32_t score = -0x7fffffff;
  std::uint32_t key_scale = 0, value_scale = 0;
};

// Clears the last vector of `count` sums, before they are written: vectors read beyond the last.
template <class Port>
TINYATTN_KERNEL void clear_last_vector(std::uint32_t* sums, std::size_t count) noexcept {
  if constexpr (Port::lanes > 1)
    __builtin_memset(sums + (padded<Port>(count) - Port::lanes), 0, Port::lanes * sizeof(*sums));
}

// Computes the scores of a block of keys, none of which is shifted left.
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

// The same for any keys.
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

// out[j] = float(sums[j] + correction) * scale, in which the sum and the product are rounded.
template <class Port>
TINYATTN_KERNEL void scale_all(const std::uint32_t* sums, std::uint32_t correction, float scale,
                               float* out, std::size_t count) noexcept {
  if constexpr (requires { Port::scale_all(sums, scale, out, count); }) {
    Port::scale_all(sums, scale, out, count);
  } else if constexpr (Port::lanes == 1) {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = scaled_sum<Port>(static_cast<std::int32_t>(sums[i] + correction), scale);
  } else {
    for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      const auto sum = as_floats<Port>(load_and_add<Port>(sums + at.j, correction));
      at.store(out, Port::mul(sum, Port::broadcast(scale)));
    });
  }
}

// out = weights . values * scale, for rows of `terms` weights.
template <class Port>
TINYATTN_KERNEL void combine_values(std::int32_t* weights, std::uint32_t total, Codes values,
                                    std::size_t dim, float scale, float* out) noexcept {
  const std::uint32_t correction = pack_row<Port>(weights, values.terms, 0u - total * 128u);
  std::uint32_t sums[sum_columns<Port>];
  for (std::size_t c = 0; c < dim; c += sum_columns<Port>) {
    const std::size_t count = minimum(sum_columns<Port>, dim - c);
    clear_last_vector<IntegerPort<Port>>(sums, count);
    integer_dots<Port, 1>({weights, values.terms}, values.from(c), count, sums);
    scale_all<IntegerPort<Port>>(sums, correction, scale, out + c, count);
  }
}

// The keys of a query, from `first` to `end`.
struct KeyRun {
  std::size_t first, end;
};

// Clears the weights between these keys and whole eights, before scores are computed.
TINYATTN_KERNEL void clear_ends(std::int32_t* weights, KeyRun keys) noexcept {
  std::int32_t* const last_eight = weights + maximum(padded_to_eight(keys.end), 8) - 8;
  for (std::size_t j = 0; j < 8; ++j) last_eight[j] = 0;
  for (std::size_t j = keys.first / 8 * 8; j < keys.first; ++j) weights[j] = 0;
}

// Computes the scores of the keys of a query. Writes up to seven integers beyond them.
template <class Port>
TINYATTN_KERNEL Maxima scores_of_keys(IntegerRows query, const Int8CachedHead& head, KeyRun keys,
                                      const ScoreRule& rule, std::int32_t* scores) noexcept {
  return compute_scores<Port>(query, head.from(keys.first), keys.end - keys.first, rule,
                              scores + keys.first);
}

// Turns scores into weights; those beyond become 0.
template <class Port>
TINYATTN_KERNEL Totals weigh_keys(std::int32_t* scores, const std::uint8_t* value_scales,
                                  KeyRun keys, const Maxima& maxima,
                                  const ScoreRule& rule) noexcept {
  return weigh<Port>(scores + keys.first, value_scales + keys.first, keys.end - keys.first, maxima,
                     rule);
}

// In the place of what takes the weights of a query.
struct NoneTaken {
  template <class Port>
  static constexpr void prepare(const auto&...) noexcept {}
  template <class Port>
  static constexpr float pass_on(float scale, const auto&...) noexcept {
    return scale;
  }
};

// The context of one head for one query, over its keys; zeros, if there are none. `scratch` has
// room for the query and for a score of each key.
template <class Port, class Keys = KeyRun, class Taken = NoneTaken>
[[gnu::noinline]] constexpr void attend_in_integers(const float* query, std::size_t dim,
                                                    const Int8CachedHead& head, const Keys& keys,
                                                    const ScoreRule& rule, std::int32_t* scratch,
                                                    float* context,
                                                    const Taken& taken = {}) noexcept {
  using Single = typename Port::one_lane;
  const IntegerRows row{scratch, head.keys.terms + 2};
  std::int32_t* const weights = scratch + row.stride;
  quantize_row<Port>(query, dim, row);
  clear_ends(weights, keys);
  const Maxima maxima = scores_of_keys<Port>(row, head, keys, rule, weights);
  taken.template prepare<Port>(weights, keys, maxima, rule);
  const std::size_t begin = keys.first / 8 * 8, terms = padded_to_eight(keys.end) - begin;
  Totals totals = weigh_keys<Port>(weights, head.value_scales, keys, maxima, rule);
  const bool is_nan = bits_of(row.scale()) >= infinity_bits || maxima.key_scale == no_scale ||
                      maxima.value_scale == no_scale;
  const auto unit = static_cast<std::uint32_t>(scale_exponent(maxima.value_scale) + 127 + 4);
  float share = 0.0f;  // of a unit of powers in their sum
  if (totals.powers != 0)
    share =
        is_nan ? float_of(nan_bits)
               : Single::divide(1.0f, static_cast<float>(static_cast<std::int32_t>(totals.powers)));
  share = taken.template pass_on<Port>(share, weights, keys, totals);
  if (totals.powers == 0)
    for (std::size_t c = 0; c < dim; ++c) context[c] = 0.0f;
  else
    combine_values<Port>(weights + begin, totals.weights,
                         {head.values.data + begin, head.values.stride, terms}, dim,
                         Single::mul(share, float_of(unit << 23)), context);
}

// How many integers of scratch that takes: a query, and the scores of a context.
constexpr std::size_t int8_cache_scratch(std::size_t head_dim,
                                         std::size_t context_length) noexcept {
  return padded_to_eight(head_dim) + 2 + padded_to_eight(context_length);
}

// Computes the contexts of all heads for the queries of `rows` tokens.
template <class Port>
TINYATTN_KERNEL void attend_heads(const auto& layer, const Int8Cached& cache, const auto& scratch,
                                  std::size_t past, std::size_t rows, Output block,
                                  Output context) noexcept {
  const std::size_t dim = layer.head_dim;
  const ScoreRule rule = score_rule<Port>(layer.scale, dim, cache.context_length);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t head = 0; head < layer.num_heads; ++head)
      attend_in_integers<Port>(block.at(i, head * dim), dim,
                               head_of(cache, dim, head / group(layer)), KeyRun{0, past + i + 1},
                               rule, scratch.integers.q, context.at(i, head * dim));
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
