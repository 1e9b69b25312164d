// SPDX-License-Identifier: MIT
//
// A layer without a cache whose keys and values have eight bits: it stores those of all tokens as a
// cache does, and computes attention in integers, with the bits of a call with a cache.
#pragma once

#include "tinyattn/kernel/int8/attention.hpp"

#include <concepts>
#include <cstdint>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Scratch of a layer, in the place of that of floats.
struct Int8Scratch {
  Int8Cached cache;         // of the tokens of this call
  std::size_t most_keys;    // of a query: those that the layer's cache keeps
  Output block;             // [block_rows, d_out]: keys, values, then queries and their contexts
  std::size_t block_rows;   // rows that are projected at once
  float* weights;           // [source tokens]: of a query, for what takes them
  IntegerScratch integers;  // of inputs; then a query and its scores
};
// Returns how many floats that has, for each port of the architecture.
constexpr std::size_t int8_layer_scratch(std::size_t width, std::size_t tokens) noexcept {
  return TINYATTN_BLOCK_ROWS(tokens) * width + tokens;
}
TINYATTN_KERNEL Int8Scratch int8_parts_of(float* floats, std::size_t width, const Int8Cached& cache,
                                          std::size_t most_keys, std::size_t block_rows,
                                          const IntegerScratch& integers) noexcept {
  return {cache, most_keys, {floats, width}, block_rows, floats + block_rows * width, integers};
}

// --- Masks ---

// The keys of a query that a mask with flags or addends leaves.
template <class Mask>
struct MaskedKeys {
  const Mask& mask;
  std::size_t query;
  std::size_t first, end;  // others are not among these

  // Calls use(run) for each run of keys.
  TINYATTN_KERNEL void for_each_run(const auto& use) const noexcept {
    for (std::size_t j = first; j < end; ++j) {
      const std::size_t run = j;
      j = next_masked(mask, query, j, end);
      if (j != run) use(KeyRun{run, j});
    }
  }
};
TINYATTN_KERNEL void for_each_run(KeyRun keys, const auto& use) noexcept {
  if (keys.first < keys.end) use(keys);
}
TINYATTN_KERNEL void for_each_run(const auto& keys, const auto& use) noexcept {
  keys.for_each_run(use);
}

// Returns an addend of a mask in 1024ths of a power of two. One from 363,408 on counts as that.
template <class Port>
constexpr std::int32_t addend_of(float addend) noexcept {
  constexpr float most = 363408.0f, unit = 0x1.715476p+0f * 1024.0f;
  const float kept = addend > most ? most : addend < -most ? -most : addend;
  return static_cast<std::int32_t>(Port::one_lane::fma(kept, unit, kept < 0.0f ? -0.5f : 0.5f));
}

// Adds the addends of a mask to the scores of a run, and returns the largest. An addend that is
// infinite or NaN makes the keys those of a head without a scale.
template <class Port>
TINYATTN_KERNEL void add_addends(const float* addends, KeyRun run, std::int32_t* scores,
                                 Maxima& maxima) noexcept {
  maxima.score = -0x7fffffff;
  for (std::size_t j = run.first; j < run.end; ++j) {
    const bool is_finite = (bits_of(addends[j]) & infinity_bits) != infinity_bits;
    if (!is_finite) maxima.key_scale = no_scale;
    scores[j] += is_finite ? addend_of<Port>(addends[j]) : 0;
    maxima.score = greater(maxima.score, scores[j]);
  }
}

template <class Port, class Mask>
TINYATTN_KERNEL Maxima scores_of_keys(IntegerRows query, const Int8CachedHead& head,
                                      const MaskedKeys<Mask>& keys, const ScoreRule& rule,
                                      std::int32_t* scores) noexcept {
  Maxima maxima;
  keys.for_each_run([&](KeyRun run) {
    Maxima of_run = scores_of_keys<Port>(query, head, run, rule, scores);
    if (!is_null(keys.mask.addends))
      add_addends<Port>(keys.mask.addends + keys.query * keys.mask.stride, run, scores, of_run);
    maxima.score = greater(maxima.score, of_run.score);
    maxima.key_scale = greater(maxima.key_scale, of_run.key_scale);
    maxima.value_scale = greater(maxima.value_scale, of_run.value_scale);
  });
  return maxima;
}

// A run at a time, and on one lane: vectors would write beyond a run, into the scores of the next.
template <class Port, class Mask>
TINYATTN_KERNEL Totals weigh_keys(std::int32_t* scores, const std::uint8_t* value_scales,
                                  const MaskedKeys<Mask>& keys, const Maxima& maxima,
                                  const ScoreRule& rule) noexcept {
  Totals totals;
  std::size_t next = keys.first / 8 * 8;
  keys.for_each_run([&](KeyRun run) {
    for (; next < run.first; ++next) scores[next] = 0;
    const Totals of_run =
        weigh_keys<typename Port::one_lane>(scores, value_scales, run, maxima, rule);
    totals.powers += of_run.powers;
    totals.weights += of_run.weights;
    next = run.end;
  });
  for (; next < padded_to_eight(keys.end); ++next) scores[next] = 0;
  return totals;
}
TINYATTN_KERNEL void clear_ends(std::int32_t*, const auto&) noexcept {}

// --- Weights ---

// Passes the weights of a query as floats to take_weights, which may set some to 0, as dropout
// does: their keys then have none. What it scales the others by is its `scale`.
template <class TakeWeights>
struct TakenWeights {
  const TakeWeights& take_weights;
  std::size_t index, query;  // of its matrix, and of the row there
  float* row;                // [source tokens]

  // Keeps the powers of scores, which become weights of values.
  template <class Port>
  constexpr void prepare(const std::int32_t* scores, const auto& keys, const Maxima& maxima,
                         const ScoreRule& rule) const noexcept {
    for (std::size_t j = 0; j < keys.end; ++j) row[j] = 0.0f;
    for_each_run(keys, [&](KeyRun run) {
      for (std::size_t j = run.first; j < run.end; ++j) {
        const std::uint32_t below =
            static_cast<std::uint32_t>(maxima.score) - static_cast<std::uint32_t>(scores[j]);
        row[j] = static_cast<float>(
            power_of_two<ShiftingPort<typename Port::one_lane>>(below, rule.power_shift));
      }
    });
  }
  // Takes the weights, and returns the share of those that are left.
  template <class Port>
  constexpr float pass_on(float share, std::int32_t* weights, const auto& keys,
                          Totals& totals) const noexcept {
    using Single = typename Port::one_lane;
    for_each_run(keys, [&](KeyRun run) {
      for (std::size_t j = run.first; j < run.end; ++j) row[j] = Single::mul(row[j], share);
    });
    take_weights(index, query, row, keys.end);
    for (std::size_t j = keys.first; j < keys.end; ++j)
      if (row[j] == 0.0f) {
        totals.weights -= static_cast<std::uint32_t>(weights[j]);
        weights[j] = 0;
      }
    if constexpr (requires { take_weights.scale; })
      return Single::mul(share, take_weights.scale);
    else
      return share;
  }
};

// Calls use(taken), with what attend_in_integers passes the weights to.
template <class TakeWeights>
TINYATTN_KERNEL auto taken_by(const TakeWeights& take_weights, std::size_t index, std::size_t query,
                              float* row) noexcept {
  if constexpr (std::same_as<TakeWeights, IgnoreWeights>)
    return NoneTaken{};
  else
    return TakenWeights<TakeWeights>{take_weights, index, query, row};
}

// --- A layer ---

// Stores the keys and values of `rows` tokens, at most those of a block, from `first` on.
template <class Port>
TINYATTN_KERNEL void store_source(const auto& layer, const Int8Scratch& scratch, std::size_t first,
                                  std::size_t rows, const BatchElement& element) noexcept {
  const std::size_t width = kv_width(layer);
  const Dense key_input = element.key_input.from(first, 0),
              value_input = element.value_input.from(first, 0);
  auto input = input_of<Port>(layer.key, rows, key_inputs(layer), key_input, scratch.integers);
  project_few<Port>(rows, key_inputs(layer), width, input, layer.key, scratch.block);
  place_keys<Port>(layer, rows, width, first, scratch.block);
  store_keys<Port>(layer, scratch.cache, first, rows, scratch.block);
  if (value_input.data != key_input.data || value_inputs(layer) != key_inputs(layer))
    input = input_of<Port>(layer.value, rows, value_inputs(layer), value_input, scratch.integers);
  store_values<Port>(layer, scratch.cache, first, rows, input, scratch.block);
}

// Stores those of all tokens. Sums go over whole eights: codes between these and the tokens count
// as 0, but are set, since sums read them.
template <class Port>
TINYATTN_KERNEL void store_all_sources(const auto& layer, const Int8Scratch& scratch,
                                       const BatchElement& element) noexcept {
  const std::size_t tokens = element.source_tokens, dim = layer.head_dim, width = kv_width(layer);
  const std::size_t size = minimum(scratch.block_rows, scratch.integers.rows);
  const Int8Cached& cache = scratch.cache;
  for (std::size_t first = 0; first < tokens; first += size)
    store_source<Port>(layer, scratch, first, minimum(size, tokens - first), element);
  const std::size_t key_row = padded_to_eight(dim);
  const std::size_t value_row = padded_to_eight(cache.context_length);
  for (std::size_t head = 0; head < width / dim; ++head)
    for (std::size_t i = 0; i < tokens; ++i)
      for (std::size_t k = dim; k < key_row; ++k)
        cache.keys[(head * cache.context_length + i) * key_row + k] = 128;
  for (std::size_t c = 0; c < width; ++c)
    for (std::size_t i = tokens; i < padded_to_eight(tokens); ++i)
      cache.values[c * value_row + i] = 128;
}

// Computes the contexts of one head for the queries of a block, of which the first is `first`.
template <class Port>
TINYATTN_KERNEL void attend_block(const auto& layer, const Int8Scratch& scratch,
                                  const ScoreRule& rule, std::size_t index, std::size_t head,
                                  std::size_t first, std::size_t rows, const auto& mask,
                                  const auto& take_weights, Output context) noexcept {
  using Mask = std::remove_cvref_t<decltype(mask)>;
  const std::size_t dim = layer.head_dim;
  const Int8CachedHead keys = head_of(scratch.cache, dim, head / group(layer));
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t query = first + i, begin = mask.begin(query), end = mask.end(query);
    const auto taken = taken_by(take_weights, index, query, scratch.weights);
    const auto attend = [&](const auto& run) TINYATTN_INLINE_LAMBDA {
      attend_in_integers<Port>(scratch.block.at(i, head * dim), dim, keys, run, rule,
                               scratch.integers.q, context.at(i, head * dim), taken);
    };
    if (mask.has_holes())
      attend(MaskedKeys<Mask>{mask, query, begin, end});
    else
      attend(KeyRun{begin, end});
  }
}

// Stores keys and values, then computes block after block: the queries of all heads, their
// contexts, the output.
template <class Port, CallShape = CallShape{}>
TINYATTN_KERNEL void forward_inline(const auto& layer, const Int8Scratch& scratch,
                                    const BatchElement& element, const auto& mask,
                                    const auto& take_weights) noexcept {
  const std::size_t width = layer.d_out, tokens = element.tokens, size = scratch.block_rows;
  const bool has_output = !is_null(layer.output.weight);
  const ScoreRule rule = score_rule<Port>(layer.scale, layer.head_dim, scratch.most_keys);
  store_all_sources<Port>(layer, scratch, element);
  for (std::size_t first = 0; first < tokens; first += size) {
    const std::size_t rows = minimum(size, tokens - first);
    const Output out = element.out.from(first, 0), context = has_output ? scratch.block : out;
    project<Port>(rows, layer.d_in, width, element.query_input.from(first, 0), layer.query,
                  scratch.block, scratch.integers);
    place_queries<Port>(layer, rows, width, first, scratch.block);
    for (std::size_t head = 0; head < layer.num_heads; ++head) {
      const std::size_t index = element.index * layer.num_heads + head;
      attend_block<Port>(layer, scratch, rule, index, head, first, rows, mask_of_head(mask, index),
                         take_weights, context);
    }
    if (has_output)
      project<Port>(rows, width, out_width(layer), context, layer.output, out, scratch.integers);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
