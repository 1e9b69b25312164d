// SPDX-License-Identifier: MIT
//
// Scaled dot-product attention of one head, in blocks of queries: scores, softmax, context. Nothing
// of size tokens x tokens exists.
#pragma once

#include "tinyattn/kernel/mask.hpp"
#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/softmax.hpp"

#include <concepts>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// softmax(scale * queries . keys) . values for `rows` queries of one head (Vaswani et al.,
// "Attention Is All You Need", 2017, equation 1).
struct Attention {
  std::size_t rows, block_rows;  // numbers of queries: of all, and of a block (rows of `scores`)
  std::size_t key_dim, value_dim;
  std::size_t first;  // index of the first query in the mask
  std::size_t index;  // of the matrix of weights: one for each head and batch element
  Dense queries;      // [rows, key_dim]
  Dense keys;      // [key_dim, source tokens], padded; if TransposedKeys, [source tokens, key_dim]
  Dense values;    // [source tokens, value_dim]
  Output scores;   // [block_rows, room_of_scores(source tokens)], scratch; then the weights
  Output context;  // [rows, value_dim]; overwritten; may be `queries`
  float scale;     // of the scores
};

// Returns how many scores of a row are computed. If rows of keys are padded: `end` rounded up to
// whole vectors; where tiles overlap, `end`, or the width of a tile if `end` is less and there are
// so many keys. If they are not padded: `end`. Scores after `end` are never read.
template <class Port, bool KeysArePadded>
TINYATTN_KERNEL std::size_t score_columns(std::size_t end, std::size_t keys) noexcept {
  constexpr std::size_t width = Port::tile_vectors * Port::lanes;
  if constexpr (Port::tiles_overlap)
    return KeysArePadded && keys >= width && end < width ? width : end;
  else
    return KeysArePadded ? padded<Port>(end) : end;
}

// Adds to each row of the context its unmasked keys from `common` on; the rows already hold the
// sums over the keys before that. Each run of unmasked keys is one product of a single row.
template <class Port, std::size_t KnownDim>
TINYATTN_KERNEL void add_other_keys(const Attention& a, const auto& mask,
                                    std::size_t common) noexcept {
  for (std::size_t i = 0; i < a.rows; ++i) {
    const std::size_t end = mask.end(a.first + i);
    const Output context = a.context.from(i, 0);
    for (std::size_t j = maximum(common, mask.begin(a.first + i)); j < end; ++j) {
      const std::size_t run = j;
      j = next_masked(mask, a.first + i, j, end);
      if (j == run) continue;
      const Dense weights{a.scores.at(i, run), a.scores.stride}, values = a.values.from(run, 0);
      matmul_short_row<Port, KnownDim>(
          {1, j - run, a.value_dim, weights, values, context.data, context});
      if (j == end) break;  // saves a comparison
    }
  }
}

// Does the same for `Rows` queries of which each attends to one key more than the one before: no
// branch depends on the mask.
template <class Port, std::size_t Rows>
TINYATTN_KERNEL void add_triangle(const Attention& a, std::size_t common) noexcept {
  const Dense scores = Dense(a.scores).from(0, common), values = a.values.from(common, 0);
  for_each_vector<Port>(a.value_dim, [&](auto at) TINYATTN_INLINE_LAMBDA {
    TINYATTN_UNROLL
    for (std::size_t i = 1; i < Rows; ++i) {
      auto sum = at.load(a.context.at(i, 0), 0.0f);
      TINYATTN_UNROLL
      for (std::size_t j = 0; j < Rows; ++j)
        if (j < i)
          sum = Port::fma(Port::broadcast(*scores.at(i, j)), at.load(values.at(j, 0), 0.0f), sum);
      at.store(a.context.at(i, 0), sum);
    }
  });
}

// The sizes for which a call of a layer is compiled, if it has few multiply-adds; else zeros.
struct CallShape {
  std::size_t tokens = 0, source_tokens = 0, d_in = 0, d_out = 0, head_dim = 0;
};

// scores = queries . keys, up to the last key that is unmasked for any query of the block.
template <class Port, bool TransposedKeys, CallShape known>
TINYATTN_KERNEL void compute_scores(const Attention& a, const auto& mask) noexcept {
  constexpr std::size_t known_cols =
      padded<narrowed<Port, known.source_tokens>>(known.source_tokens);
  const std::size_t end = mask.end(a.first + a.rows - 1);
  const std::size_t cols =
      known.tokens != 0 ? known_cols : score_columns<Port, !TransposedKeys>(end, mask.keys);
  if constexpr (TransposedKeys)
    matmul<Port>(Product<Dense, Transposed<>>{
        a.rows, a.key_dim, cols, a.queries, {a.keys}, nullptr, a.scores});
  else
    matmul<Port, Shape{known.tokens, known.head_dim, known_cols}>(
        {a.rows, a.key_dim, cols, a.queries, a.keys, nullptr, a.scores});
}

// context = weights . values: a product over the keys that are unmasked for all queries of the
// block, then the other keys.
template <class Port, CallShape known>
TINYATTN_KERNEL void compute_context(const Attention& a, const auto& mask) noexcept {
  const std::size_t common = known.tokens != 0 ? 0 : mask.common(a.first);
  matmul<Port, Shape{known.tokens, 0, known.head_dim}>(
      {a.rows, common, a.value_dim, a.scores, a.values, nullptr, a.context});
  if constexpr (Port::interleaves_rows && known.tokens == 0)
    if (a.rows == Port::query_rows && !mask.has_holes() &&
        mask.end(a.first + a.rows - 1) == common + a.rows - 1)
      return add_triangle<Port, Port::query_rows>(a, common);
  add_other_keys<Port, known.head_dim>(a, mask, common);
}

// The same for a band: the keys before those that all queries of the block attend to, then these,
// if there are any, as one product, then the keys after them.
template <class Port, CallShape known>
TINYATTN_KERNEL void compute_context(const Attention& a, const Band& band) noexcept {
  const std::size_t first = band.begin(a.first + a.rows - 1), last = band.common(a.first);
  const std::size_t common = first < last ? last - first : 0;
  matmul<Port>({a.rows, 0, a.value_dim, a.scores, a.values, nullptr, a.context});
  if (common != 0) {
    Band before = band;
    before.keys = first;
    add_other_keys<Port, 0>(a, before, 0);
    matmul<Port>(Product<Dense, Dense, Dense>{a.rows, common, a.value_dim,
                                              Dense(a.scores).from(0, first),
                                              a.values.from(first, 0), a.context, a.context});
  }
  add_other_keys<Port, 0>(a, band, common == 0 ? 0 : last);
}

// Returns how many keys a block skips, since they are masked for all queries from `first` on: whole
// sixteens, so that a row of keys has the same padding after them.
TINYATTN_KERNEL std::size_t skipped_keys(const Mask&, std::size_t) noexcept { return 0; }
TINYATTN_KERNEL std::size_t skipped_keys(const Band& band, std::size_t first) noexcept {
  return band.begin(first) / 16 * 16;
}

// Skips them. Returns the mask of the other keys.
TINYATTN_KERNEL const auto& skip_keys(Attention&, const auto& mask) noexcept { return mask; }
TINYATTN_KERNEL Band skip_keys(Attention& a, const Band& band) noexcept {
  const std::size_t skipped = skipped_keys(band, a.first);
  a.keys = a.keys.from(0, skipped);
  a.values = a.values.from(skipped, 0);
  a.scores = a.scores.from(0, skipped);
  return band.from(skipped);
}

struct IgnoreWeights {
  TINYATTN_KERNEL void operator()(std::size_t, std::size_t, const float*,
                                  std::size_t) const noexcept {}
};

// Computes block after block. Passes the weights of each query i, which are row[0] to row[end - 1],
// to take_weights(index, i, row, end); that may change them, as dropout does.
template <class Port, bool TransposedKeys = false, CallShape known = CallShape{}>
TINYATTN_KERNEL void attend(const Attention& all, const auto& mask_of_all,
                            const auto& take_weights) noexcept {
  for (std::size_t i = 0; i < all.rows; i += all.block_rows) {
    Attention a = all;
    a.rows = rows_of_block(i, all.rows, all.block_rows);
    a.first += i;
    a.queries = a.queries.from(i, 0);
    a.context = a.context.from(i, 0);
    const auto& mask = skip_keys(a, mask_of_all);
    compute_scores<Port, TransposedKeys, known>(a, mask);
    masked_softmax<Port, known.source_tokens>(a.rows, a.scores, mask, a.first, a.scale);
    for (std::size_t r = 0; r < a.rows; ++r) {
      float* const row = all.scores.at(r, 0);
      if constexpr (!std::same_as<std::remove_cvref_t<decltype(take_weights)>, IgnoreWeights>)
        for (std::size_t j = 0; j < mask_of_all.begin(a.first + r); ++j) row[j] = 0.0f;
      take_weights(a.index, a.first + r, row, mask_of_all.end(a.first + r));
    }
    compute_context<Port, known>(a, mask);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
