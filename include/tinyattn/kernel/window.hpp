// SPDX-License-Identifier: MIT
//
// Attention with a window: a cache is then a ring, in which the token at position p overwrites that
// at p - window.
#pragma once

#include "tinyattn/kernel/int8/attention.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// A Cached or an Int8Cached with `window` rows.
template <class Cache>
struct Ring {
  Cache cache;
  std::size_t window;
  std::size_t heads;  // that share keys, and for whose scores there is room
};

// Returns a number of tokens after which the next one lies in the same row of the ring: one that
// becomes too large for a std::size_t steps back by whole turns.
constexpr std::size_t counted_in_turns(std::size_t tokens, std::size_t window) noexcept {
  return tokens > SIZE_MAX / 2 ? tokens - SIZE_MAX / 4 / window * window : tokens;
}

// Where the tokens of a window lie: the older ones in the rows from `oldest` to count - 1 of the
// ring, then the newer ones in the rows before `oldest`.
struct WindowRows {
  std::size_t count;   // of tokens
  std::size_t oldest;  // row of the oldest
};
TINYATTN_KERNEL WindowRows rows_of_window(std::size_t position, std::size_t window) noexcept {
  return position < window ? WindowRows{position + 1, 0}
                           : WindowRows{window, (position + 1) % window};
}

// out = a . b, by the products of single rows unless rows are interleaved.
template <class Port>
TINYATTN_KERNEL void multiply_row_by_row(const Product<>& p) noexcept {
  if constexpr (Port::interleaves_rows)
    matmul<Port>(p);
  else
    matmul_row<Port>(p);
}

// --- Scores ---

// Scores are computed in the order of the ring, and those of the newer tokens are then copied after
// those of the older ones. So a row has room for twice the window, and for what rounds it up to
// vectors. It begins with the oldest token, wherever that is: the sum of its exponentials is the
// same as in a row of all tokens, since the reduction of sixteen lanes is the same from any lane
// on.
constexpr std::size_t window_row(std::size_t window) noexcept { return 2 * window + 16; }

// Returns how many floats the scores of a token take if `heads` heads are computed together: a row
// and a context each.
constexpr std::size_t window_scores(std::size_t window, std::size_t head_dim,
                                    std::size_t heads) noexcept {
  return heads * (window_row(window) + head_dim);
}

// Computes rows of scores, and returns the first.
template <class Port>
TINYATTN_KERNEL Output scores_of_window(const Attention& a, const WindowRows& rows) noexcept {
  constexpr bool in_vectors = requires { Port::row_vectors; };
  const auto whole = [](std::size_t count) TINYATTN_INLINE_LAMBDA {
    return in_vectors ? padded<Port>(count) : count;
  };
  const std::size_t cols = whole(rows.count);
  multiply_row_by_row<Port>({a.rows, a.key_dim, cols, a.queries, a.keys, nullptr, a.scores});
  for (std::size_t i = 0; i < a.rows; ++i)
    copy_row<Port>(a.scores.at(i, 0), a.scores.at(i, rows.count), whole(rows.oldest));
  return a.scores.from(0, rows.oldest);
}

// context = weights . values, from the oldest token on, for heads of eight features: a tile of one
// row of the port, without a call, which would take long next to so little work. Its loop goes to
// the end of the ring, then from its beginning on: two tiles without a loop would take more flash.
constexpr std::size_t short_head = 8;
template <class Port>
TINYATTN_KERNEL void combine_short(const Attention& a, const WindowRows& rows,
                                   Dense weights) noexcept {
  const float *initial = zeros<short_head>, *values = a.values.at(rows.oldest, 0);
  const float* weight = weights.data;
  std::size_t left = rows.count, count = left - rows.oldest;
  do {
    Port::template row_tile<short_head / Port::lanes>(initial, weight, values, a.values.stride,
                                                      a.context.data, count);
    initial = a.context.data;
    values = a.values.data;
    weight += count;
    left -= count;
    count = left;
  } while (left != 0);
}

// The same for heads of any width. After the scores there is room for the context.
template <class Port>
TINYATTN_KERNEL void combine_window(const Attention& a, const WindowRows& rows,
                                    Dense weights) noexcept {
  if constexpr (!Port::interleaves_rows && has_row_tile<Port, short_head / Port::lanes>)
    if (a.value_dim == short_head) return combine_short<Port>(a, rows, weights);
  const std::size_t older = rows.count - rows.oldest;
  const Dense newer_weights = weights.from(0, older), values = a.values.from(rows.oldest, 0);
  if (rows.oldest == 0)
    return multiply_row_by_row<Port>(
        {a.rows, older, a.value_dim, weights, values, nullptr, a.context});
  const Output first{a.scores.at(a.rows, 0), a.value_dim};
  multiply_row_by_row<Port>({a.rows, older, a.value_dim, weights, values, nullptr, first});
  if constexpr (Port::interleaves_rows)
    matmul<Port>(Product<Dense, Dense, Dense>{a.rows, rows.oldest, a.value_dim, newer_weights,
                                              a.values, first, a.context});
  else
    matmul_row<Port>(
        {1, rows.oldest, a.value_dim, newer_weights, a.values, Bias(first.data), a.context});
}

// --- Heads ---

// Computes the contexts of all heads for the query of one token, the newest of the window: head by
// head, or where rows are interleaved, as many together as there is room for.
template <class Port>
TINYATTN_KERNEL void attend_window(const auto& layer, const Ring<Cached>& ring, float* scratch,
                                   const WindowRows& rows, Output queries,
                                   Output context) noexcept {
  const std::size_t dim = layer.head_dim, heads = Port::interleaves_rows ? ring.heads : 1;
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
    const Output weights = scores_of_window<Port>(a, rows);
    const auto end_of = [=](std::size_t) TINYATTN_INLINE_LAMBDA { return rows.count; };
    softmax_of_scores<Port>(heads, weights, end_of, a.scale);
    combine_window<Port>(a, rows, weights);
  }
}

// Computes the contexts of the next `rows` tokens, one after the other: each overwrites a token
// that the one before it still attends to.
template <class Port, class Cache>
TINYATTN_KERNEL void attend_in_turn(const auto& layer, const Ring<Cache>& ring, const auto& scratch,
                                    std::size_t past, std::size_t rows, Dense x, Output block,
                                    Output context) noexcept {
  float* const floats = scratch.floats + rows * layer.d_out;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t position = past + i;
    const Output queries = block.from(i, 0), token_context = context.from(i, 0);
    project_tokens<Port>(layer_at<Port>(layer, position, floats), ring.cache, scratch,
                         position % ring.window, 0, 1, x.from(i, 0), queries);
    const WindowRows kept = rows_of_window(position, ring.window);
    if constexpr (requires { ring.cache.key_scales; })
      attend_heads<Port>(layer, ring.cache, scratch, kept.count - 1, 1, queries, token_context);
    else
      attend_window<Port>(layer, ring, floats, kept, queries, token_context);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
