// SPDX-License-Identifier: MIT
//
// Attention with a window: a cache is then a ring, in which the token at position p overwrites that
// at p - window.
#pragma once

#include "tinyattn/kernel/int8_cache.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// A Cached or an Int8Cached with `window` rows.
template <class Cache>
struct Ring {
  Cache cache;
  std::size_t window;
};

// Where the tokens of a window lie: the older ones in the rows from `oldest` to count - 1 of the
// ring, then those in the rows before `oldest`.
struct WindowRows {
  std::size_t count;   // of tokens
  std::size_t oldest;  // row of the oldest
  std::size_t lead;    // its position modulo 16
};
TINYATTN_KERNEL WindowRows rows_of_window(std::size_t position, std::size_t window) noexcept {
  if (position < window) return {position + 1, 0, 0};
  return {window, (position + 1) % window, (position + 1 - window) % 16};
}

template <class Port>
TINYATTN_KERNEL void fill_row(float* row, std::size_t count, float by) noexcept {
  for_each_vector<Port>(count,
                        [=](auto at) TINYATTN_INLINE_LAMBDA { at.store(row, Port::splat(by)); });
}
template <class Port>
TINYATTN_KERNEL void copy_row(const float* from, float* to, std::size_t count) noexcept {
  if constexpr (Port::lanes > 1)
    transform_row<Port>(from, to, count, [](auto v) TINYATTN_INLINE_LAMBDA { return v; });
  else
    for_each_group<Port>(count, [&]<std::size_t size>(std::size_t j) TINYATTN_INLINE_LAMBDA {
      float group[size];
      Port::load_row(from + j, group);
      Port::store_row(group, to + j);
    });
}

// out = a . b, by the products of single rows unless rows are interleaved.
template <class Port>
TINYATTN_KERNEL void multiply_rows(const Product<>& p) noexcept {
  if constexpr (Port::interleaves_rows)
    matmul<Port>(p);
  else
    matmul_row<Port>(p);
}

// --- Scores ---

// Scores are computed in the order of the ring, and those of the newer tokens are then moved after
// the others. A row begins where the scores of positions that are multiples of 16 have the lanes of
// a sum that they have in a row of all tokens: `lead` elements before the oldest. So it has room
// for twice the window, and for what rounds it up to lanes.
constexpr std::size_t window_row(std::size_t window) noexcept { return 2 * window + 32; }
static_assert(TINYATTN_WINDOW_SCORES(5, 3, 1) == window_row(5) + 3);

// Computes rows of scores, and returns the first: the first `lead` elements of each take no part.
template <class Port>
TINYATTN_KERNEL Output scores_of_window(const Attention& a, const WindowRows& rows,
                                        std::size_t window) noexcept {
  constexpr bool in_vectors = requires { Port::row_vectors; };
  const std::size_t cols = in_vectors ? padded<Port>(rows.count) : rows.count;
  const Output scores = a.scores.from(0, rows.oldest == 0 ? 0 : window);
  const Output by_ring{scores.data + rows.lead - rows.oldest, scores.stride};
  multiply_rows<Port>({a.rows, a.key_dim, cols, a.queries, a.keys, nullptr, by_ring});
  for (std::size_t i = 0; i < a.rows; ++i)
    copy_row<Port>(by_ring.at(i, 0), by_ring.at(i, rows.count), rows.oldest);
  return scores;
}

// Replaces the scores of a row, which are its elements from `lead` on, by their weights.
template <class Port>
[[gnu::noinline]] constexpr void softmax_of_window(float* row, std::size_t lead, std::size_t count,
                                                   float scale) noexcept {
  float* const scores = row + lead;
  const std::size_t room = room_of_scores<Port>(count);
  fill_row<Port>(row, lead, 0.0f);
  fill_row<Port>(scores + count, room - count, -infinity);
  auto largest = Port::splat(least);
  for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    largest = Port::maximum(largest, at.load(scores, -infinity));
  });
  if constexpr (has_exponentials<Port>) {
    std::size_t end = lead + room;
    Port::exponentials(scores, room, largest, scale, exp_numbers);
    for (; end % 4 != 0; ++end) row[end] = 0.0f;
    Port::multiply_fours(scores, room, reciprocal<Port>(Port::sum_of_fours(row, end, zeros<8>)));
  } else {
    const auto shift = Port::broadcast(-largest_of<Port>(largest)), factor = Port::broadcast(scale);
    transform_row<Port>(scores, scores, room, [&](auto score) TINYATTN_INLINE_LAMBDA {
      return exponential<Port>(score, shift, factor);
    });
    const auto by = reciprocal<Port>(sum_of_row<Port>(row, lead + room));
    transform_row<Port>(scores, scores, room,
                        [&](auto weight) TINYATTN_INLINE_LAMBDA { return Port::mul(weight, by); });
  }
}

// Does the same for rows that are interleaved; then the elements before are masked scores.
template <class Port>
TINYATTN_KERNEL void softmax_of_windows(std::size_t rows, Output scores, std::size_t lead,
                                        std::size_t count, float scale) noexcept {
  if constexpr (Port::interleaves_rows) {
    const std::size_t end = lead + count;
    for (std::size_t i = 0; i < rows; ++i) fill_row<Port>(scores.at(i, 0), lead, -infinity);
    const auto end_of = [=](std::size_t) TINYATTN_INLINE_LAMBDA { return end; };
    softmax_of_scores<Port>(rows, scores, end_of, scale);
  } else {
    softmax_of_window<Port>(scores.data, lead, count, scale);
  }
}

// context = weights . values, from the oldest token on. `between` has room for the context.
template <class Port>
TINYATTN_KERNEL void combine_window(const Attention& a, const WindowRows& rows, Dense weights,
                                    float* between) noexcept {
  const std::size_t older = rows.count - rows.oldest;
  const Dense of_newer = weights.from(0, older), values = a.values.from(rows.oldest, 0);
  if (rows.oldest == 0)
    return multiply_rows<Port>({a.rows, older, a.value_dim, weights, values, nullptr, a.context});
  const Output first{between, a.value_dim};
  multiply_rows<Port>({a.rows, older, a.value_dim, weights, values, nullptr, first});
  if constexpr (Port::interleaves_rows)
    matmul<Port>(Product<Dense, Dense, Dense>{a.rows, rows.oldest, a.value_dim, of_newer, a.values,
                                              first, a.context});
  else
    matmul_row<Port>({1, rows.oldest, a.value_dim, of_newer, a.values, Bias(between), a.context});
}

// --- Heads ---

// Computes the contexts of all heads for the query of one token, the newest of the window: head by
// head, or where rows are interleaved, all heads together that share keys.
template <class Port>
TINYATTN_KERNEL void attend_window(const auto& layer, const Ring<Cached>& ring, float* scratch,
                                   const WindowRows& rows, Output queries,
                                   Output context) noexcept {
  const std::size_t dim = layer.head_dim, heads = Port::interleaves_rows ? group(layer) : 1;
  const Output scores{scratch, window_row(ring.window)};
  for (std::size_t head = 0; head < layer.num_heads; head += heads) {
    const std::size_t column = kv_column(layer, head);
    const Attention a{heads,
                      heads,
                      dim,
                      dim,
                      0,
                      head,
                      {queries.at(0, head * dim), dim},
                      ring.cache.keys.from(column, 0),
                      ring.cache.values.from(0, column),
                      scores,
                      {context.at(0, head * dim), dim},
                      layer.scale};
    const Output weights = scores_of_window<Port>(a, rows, ring.window);
    softmax_of_windows<Port>(heads, weights, rows.lead, rows.count, a.scale);
    combine_window<Port>(a, rows, Dense(weights).from(0, rows.lead), scores.at(heads, 0));
  }
}

// Computes the contexts of the next `rows` tokens, one after the other: each overwrites a token
// that the one before it still attends to.
template <class Port, class Cache>
TINYATTN_KERNEL void attend_cached(const auto& layer, const Ring<Cache>& ring, const auto& scratch,
                                   std::size_t past, std::size_t rows, Dense x, Output block,
                                   Output context) noexcept {
  float* const floats = scratch.floats + rows * layer.d_out;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t position = past + i;
    const Output queries = block.from(i, 0), of_token = context.from(i, 0);
    project_tokens<Port>(layer_at<Port>(layer, position, floats), ring.cache, scratch,
                         position % ring.window, 0, 1, x.from(i, 0), queries);
    const WindowRows of_window = rows_of_window(position, ring.window);
    if constexpr (requires { ring.cache.key_scales; })
      attend_heads<Port>(layer, ring.cache, scratch, of_window.count - 1, 1, queries, of_token);
    else
      attend_window<Port>(layer, ring, floats, of_window, queries, of_token);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
