// SPDX-License-Identifier: MIT
//
// The backward pass of scaled dot-product attention of one head, in blocks of queries. Weights are
// computed again and come to the same bits; nothing of size tokens x tokens exists.
#pragma once

#include "tinyattn/kernel/attention.hpp"
#include "tinyattn/training/kernel/continued_product.hpp"
#include "tinyattn/training/kernel/row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// How many queries one head attends with at a time in the backward pass of a layer: a number of the
// port, or that of the forward pass.
template <class Port>
inline constexpr std::size_t backward_rows = [] {
  if constexpr (requires { Port::backward_rows; })
    return Port::backward_rows;
  else
    return Port::query_rows;
}();

// Replays no dropout of attention weights. A replay has drop<Port>(row, end, index, i), which drops
// what forward dropped of the weights of query i in the matrix of weights with that index.
struct NoReplay {
  static constexpr bool drops = false;
};

// One head of one batch element.
struct AttentionBackward {
  std::size_t rows, block_rows;  // numbers of queries: of all, and of a block
  std::size_t key_dim, value_dim;
  std::size_t index;         // of the matrix of weights: one for each head and batch element
  Output queries;            // [rows, key_dim]; overwritten by their gradients
  Dense keys, values;        // [source tokens, key_dim] and [source tokens, value_dim]
  Output d_keys, d_values;   // as these; added to, unless they are null
  Output weights, d_scores;  // [block_rows, room_of_scores(source tokens)], scratch
  float scale;               // of the scores
};

// A block of its queries, and the keys that they attend to.
struct QueryBlock {
  std::size_t first, rows;  // of the queries
  Output queries;           // [rows, key_dim]
};

template <class Mask>
TINYATTN_KERNEL bool attends(const Mask& mask, std::size_t i, std::size_t j) noexcept {
  return j >= mask.begin(i) && j < mask.end(i) && !mask.masks(i, j);
}

// out[j] += the sum of weights[i][j] * x[i] over the queries i of a block that attend to key j, i
// rising: one product for the keys that all of them attend to, then one for each run of queries.
template <class Port>
TINYATTN_KERNEL void add_over_queries(const QueryBlock& block, const auto& mask, std::size_t dim,
                                      Dense weights, Dense x, Output out) noexcept {
  const std::size_t last = block.first + block.rows - 1, end = mask.end(last);
  const std::size_t begin_common = mask.begin(last),
                    end_common = maximum(begin_common, mask.common(block.first));
  if (begin_common != end_common)
    add_outer_product<Port>({end_common - begin_common, block.rows, dim,
                             weights.from(0, begin_common), x, out.from(begin_common, 0)});
  for (std::size_t j = mask.begin(block.first); j < end; ++j) {
    if (j == begin_common) j = end_common;
    if (j == end) break;
    for (std::size_t i = 0; i < block.rows; ++i) {
      const std::size_t run = i;
      while (i < block.rows && attends(mask, block.first + i, j)) ++i;
      if (i != run)
        add_outer_product<Port>(
            {1, i - run, dim, weights.from(run, j), x.from(run, 0), out.from(j, 0)});
    }
  }
}

// out = the sum of weights[i][j] * x[j] over the keys j that query i attends to.
template <class Port>
TINYATTN_KERNEL void combine_keys(const QueryBlock& block, const auto& mask, std::size_t dim,
                                  Output weights, Dense x, Output out) noexcept {
  compute_context<Port, CallShape{}>(
      {block.rows, block.rows, dim, dim, block.first, 0, block.queries, x, x, weights, out, 1.0f},
      mask);
}

// Sets to 0 what a row has for keys before its end that the query does not attend to.
TINYATTN_KERNEL void clear_masked(const QueryBlock& block, const auto& mask, Output row) noexcept {
  for (std::size_t i = 0; i < block.rows; ++i)
    for (std::size_t j = 0; j < mask.end(block.first + i); ++j)
      if (!attends(mask, block.first + i, j)) *row.at(i, j) = 0.0f;
}

// Replays dropout of the weights of a block.
template <class Port>
TINYATTN_KERNEL void replay_dropout(const QueryBlock& block, const auto& mask, std::size_t index,
                                    Output weights, const auto& dropout) noexcept {
  if constexpr (std::remove_cvref_t<decltype(dropout)>::drops)
    for (std::size_t i = 0; i < block.rows; ++i)
      dropout.template drop<Port>(weights.at(i, 0), mask.end(block.first + i), index,
                                  block.first + i);
}

// Computes the weights of a block. Returns them as they multiplied the values: dropped, in
// `d_scores`, if forward dropped some.
template <class Port>
TINYATTN_KERNEL Output recompute_weights(const AttentionBackward& a, const QueryBlock& block,
                                         const auto& mask, const auto& dropout) noexcept {
  const std::size_t end = mask.end(block.first + block.rows - 1);
  multiply_transposed<Port>(Product<Dense, Transposed<>>{
      block.rows, a.key_dim, end, block.queries, {a.keys}, nullptr, a.weights});
  masked_softmax<Port>(block.rows, a.weights, mask, block.first, a.scale);
  if constexpr (!std::remove_cvref_t<decltype(dropout)>::drops) return a.weights;
  for (std::size_t i = 0; i < block.rows; ++i)
    for (std::size_t j = 0; j < mask.end(block.first + i); ++j)
      *a.d_scores.at(i, j) = *a.weights.at(i, j);
  replay_dropout<Port>(block, mask, a.index, a.d_scores, dropout);
  return a.d_scores;
}

// Computes the gradients of one block. d_context_of(block, weights) returns the gradient of its
// context; `weights` are those that multiplied the values.
template <class Port>
TINYATTN_KERNEL void attend_block_backward(const AttentionBackward& a, const QueryBlock& block,
                                           const auto& mask, const auto& dropout,
                                           const auto& d_context_of) noexcept {
  const Output weights = recompute_weights<Port>(a, block, mask, dropout);
  const Dense d_context = d_context_of(block, weights);
  if (!is_null(a.d_values.data))
    add_over_queries<Port>(block, mask, a.value_dim, weights, d_context, a.d_values);
  multiply_transposed<Port>(Product<Dense, Transposed<>>{block.rows,
                                                         a.value_dim,
                                                         mask.end(block.first + block.rows - 1),
                                                         d_context,
                                                         {a.values},
                                                         nullptr,
                                                         a.d_scores});
  replay_dropout<Port>(block, mask, a.index, a.d_scores, dropout);
  if (mask.has_holes() || mask.begin(block.first + block.rows - 1) != 0) {
    clear_masked(block, mask, a.weights);
    clear_masked(block, mask, a.d_scores);
  }
  for (std::size_t i = 0; i < block.rows; ++i)
    softmax_backward_row<Port>(a.weights.at(i, 0), a.d_scores.at(i, 0), a.d_scores.at(i, 0),
                               mask.end(block.first + i), a.scale);
  if (!is_null(a.d_keys.data))
    add_over_queries<Port>(block, mask, a.key_dim, a.d_scores, block.queries, a.d_keys);
  combine_keys<Port>(block, mask, a.key_dim, a.d_scores, a.keys, block.queries);
}

// Computes block after block: d_keys and d_values are added to, queries become their gradients.
template <class Port>
TINYATTN_KERNEL void attend_backward(const AttentionBackward& a, const auto& mask,
                                     const auto& dropout, const auto& d_context_of) noexcept {
  for (std::size_t first = 0; first < a.rows; first += a.block_rows)
    attend_block_backward<Port>(
        a, QueryBlock{first, minimum(a.block_rows, a.rows - first), a.queries.from(first, 0)}, mask,
        dropout, d_context_of);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
