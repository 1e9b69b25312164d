// SPDX-License-Identifier: MIT
//
// Attention of one head and query over keys and values of int8.
#pragma once

#include "tinyattn/kernel/int8/scores.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// out[j] = float(sums[j] + correction) * scale, in which the sum and the product are rounded.
template <class Port>
TINYATTN_KERNEL void scale_all(const std::uint32_t* sums, std::uint32_t correction, float scale,
                               float* out, std::size_t count) noexcept {
  if constexpr (requires { Port::scale_all(sums, correction, scale, out, count); }) {
    Port::scale_all(sums, correction, scale, out, count);
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
  TINYATTN_UNROLL_FOR_SPEED
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
// room for the query, for a score of each key, and for seven more if the keys may begin between
// eights.
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

// How many integers of scratch that takes: a query, and the scores of a context whose keys begin at
// 0; for others, seven more tokens than it has.
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
