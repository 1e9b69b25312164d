// SPDX-License-Identifier: MIT
//
// An attention layer over one element of a batch. A head is a range of columns of the queries, keys
// and values: nothing is reshaped or copied.
#pragma once

#include "tinyattn/kernel/attention.hpp"
#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/rotary.hpp"
#include "tinyattn/kernel/transpose.hpp"
#include "tinyattn/scratch.h"

#include <cstddef>
#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

struct Layer {
  std::size_t d_in, d_out, num_heads, head_dim;
  float scale;  // of the scores
  Projection<> query, key, value, output;
};

// A layer in which `group` query heads share each key head, or in which queries and keys rotate
// with their position.
struct GroupedLayer : Layer {
  std::size_t group;
  Rotation rotation;
};

// How many query heads share a key head, how wide all key heads are, and which columns of the keys
// belong to a query head.
TINYATTN_ALWAYS_INLINE constexpr std::size_t group(const Layer&) noexcept { return 1; }
TINYATTN_ALWAYS_INLINE constexpr std::size_t group(const GroupedLayer& layer) noexcept {
  return layer.group;
}
TINYATTN_ALWAYS_INLINE constexpr std::size_t kv_width(const Layer& layer) noexcept {
  return layer.d_out;
}
TINYATTN_ALWAYS_INLINE constexpr std::size_t kv_width(const GroupedLayer& layer) noexcept {
  return layer.d_out / layer.group;
}
TINYATTN_ALWAYS_INLINE constexpr std::size_t kv_column(const Layer& layer,
                                                       std::size_t head) noexcept {
  return head * layer.head_dim;
}
TINYATTN_ALWAYS_INLINE constexpr std::size_t kv_column(const GroupedLayer& layer,
                                                       std::size_t head) noexcept {
  return head / layer.group * layer.head_dim;
}

// Rotates `columns` columns of `rows` rows, of which the first is at `position`. Those of a plain
// Layer do not rotate.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void rotate(const Layer&, std::size_t, std::size_t, std::size_t,
                                             Output) noexcept {}
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void rotate(const GroupedLayer& layer, std::size_t rows,
                                             std::size_t columns, std::size_t position,
                                             Output x) noexcept {
  rotate<Port>(layer.rotation, rows, columns / layer.head_dim, layer.head_dim, position, x);
}

// One element of a batch: its inputs and its output.
struct Item {
  std::size_t index;  // in its batch
  std::size_t tokens, source_tokens;
  Dense query_input;  // [tokens, d_in]
  Dense key_input;    // [source tokens, d_in]
  Dense value_input;  // [source tokens, d_in]
  Output out;         // [tokens, d_out]; may be query_input
};

struct Scratch {
  Output keys;    // transposed: [kv_width, source tokens], in rows padded to whole vectors
  Output values;  // [source tokens, kv_width]
  Output block;   // [block_rows, d_out]: queries, which their contexts overwrite
  Output scores;  // [query_rows, source tokens], in padded rows
  // rows that are projected at once, and queries for which one head is computed at once
  std::size_t block_rows, query_rows;
};

// Returns the height of a block: the port's, but at most sixteen rows or a quarter of the context,
// whichever is more, so that most of the scratch is keys and values. Where tiles overlap, and in
// short contexts, all blocks have nearly the same height, so that code specialized for a height
// exists once.
template <class Port>
constexpr std::size_t block_rows(std::size_t context_length) noexcept {
  const std::size_t most = minimum(
      context_length, minimum(Port::block_rows, context_length < 64 ? 16 : context_length / 4));
  return Port::tiles_overlap || context_length <= 16 ? evenly(context_length, most) : most;
}

// Parts hands out parts of scratch, one after the other; CountedParts only counts their floats.
struct Parts {
  float* next;

  TINYATTN_ALWAYS_INLINE constexpr float* take(std::size_t count) noexcept {
    float* const part = next;
    next += count;
    return part;
  }
};
struct CountedParts {
  std::size_t floats = 0;

  constexpr float* take(std::size_t count) noexcept {
    floats += count;
    return nullptr;
  }
};

// Divides the scratch of a layer. query_rows is at most the number of tokens.
TINYATTN_ALWAYS_INLINE constexpr Scratch lay_out(auto& parts, std::size_t width,
                                                 std::size_t kv_width, std::size_t source_tokens,
                                                 std::size_t block_rows,
                                                 std::size_t query_rows) noexcept {
  const std::size_t row_size = TINYATTN_PADDED(source_tokens);
  float* const keys = parts.take(kv_width * row_size);
  float* const values = parts.take(source_tokens * kv_width);
  float* const scores = parts.take(query_rows * row_size);
  float* const block = parts.take(block_rows * width);
  return {{keys, row_size},   {values, kv_width}, {block, width},
          {scores, row_size}, block_rows,         query_rows};
}
TINYATTN_ALWAYS_INLINE constexpr Scratch parts_of(float* scratch, auto... sizes) noexcept {
  Parts parts{scratch};
  return lay_out(parts, sizes...);
}
constexpr std::size_t layer_scratch(auto... sizes) noexcept {
  CountedParts parts;
  lay_out(parts, sizes...);
  return parts.floats;
}

// Whether a target can address the scratch of a layer. Keys, values, a block and scores have fewer
// floats than four padded contexts for each column of the layer and each row of scores.
consteval bool fits_in_memory(std::size_t width, std::size_t context_length) noexcept {
  constexpr std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(float) / 4;
  return context_length < most && width < most &&
         TINYATTN_PADDED(context_length) <= most / (width + TINYATTN_QUERY_ROWS(most));
}

// All the scratch of a layer.
template <class Port, std::size_t Width, std::size_t KvWidth, std::size_t ContextLength>
struct LayerWorkspace {
  static constexpr std::size_t block_rows = kernel::block_rows<Port>(ContextLength);
  static constexpr std::size_t query_rows = minimum(block_rows, Port::query_rows);
  static_assert(block_rows <= TINYATTN_BLOCK_ROWS(ContextLength) &&
                    query_rows <= TINYATTN_QUERY_ROWS(ContextLength) &&
                    TINYATTN_LANES % room_of_scores<Port>(1) == 0,
                "scratch, as scratch.h counts it, must suffice for every port");

  static_assert(fits_in_memory(Width, ContextLength),
                "a workspace has more bytes than this target can address");

  static constexpr std::size_t floats =
      TINYATTN_GROUPED_LAYER_SCRATCH(Width, KvWidth, ContextLength, ContextLength);
  static_assert(layer_scratch(Width, KvWidth, ContextLength, block_rows, query_rows) <= floats,
                "a layer has more scratch than scratch.h counts");

  float scratch[floats];

  TINYATTN_ALWAYS_INLINE constexpr Scratch parts() noexcept {
    return parts_of(scratch, Width, KvWidth, ContextLength, block_rows, query_rows);
  }
};

// The sizes of a call of a layer. A call with few multiply-adds is compiled for them.
struct LayerShape {
  std::size_t tokens = 0, source_tokens = 0, d_in = 0, d_out = 0, head_dim = 0;
};

// Returns the sizes for which a call is compiled, in which `tokens` is the height of a block; zeros
// if it has too many multiply-adds, or if its blocks differ in height.
template <class Port>
consteval LayerShape specialized_shape(LayerShape shape, std::size_t block_rows,
                                       std::size_t query_rows) noexcept {
  const std::size_t rows = minimum(query_rows, shape.tokens);
  const std::size_t of_queries = shape.tokens * (shape.d_in + shape.d_out);
  const std::size_t of_source = 2 * shape.source_tokens * (shape.d_in + shape.tokens);
  const std::size_t work = shape.d_out * (of_queries + of_source);
  const bool blocks_are_equal =
      shape.tokens % rows == 0 && minimum(block_rows, shape.tokens) == rows;
  if (!specializes_shapes<Port> || work > 512 || !blocks_are_equal) return {};
  shape.tokens = rows;
  return shape;
}

// Projects keys and values. Keys are stored transposed, so that the scores of a block are products
// with rows: they are projected into the memory of the values, and transposed from there.
template <class Port, Shape shape = Shape{}>
TINYATTN_ALWAYS_INLINE constexpr void project_source(const auto& layer, const Scratch& scratch,
                                                     const Item& item) noexcept {
  const std::size_t tokens = item.source_tokens, width = kv_width(layer);
  project<Port, shape>(tokens, layer.d_in, width, item.key_input, layer.key, scratch.values);
  rotate<Port>(layer, tokens, width, 0, scratch.values);
  transpose<Port>(tokens, width, scratch.values, scratch.keys);
  project<Port, shape>(tokens, layer.d_in, width, item.value_input, layer.value, scratch.values);
}

// Computes the contexts of one head for `all_rows` queries from query `first` on. `queries` and
// `context` begin at the head's first column.
template <class Port, AttentionShape known = AttentionShape{}>
TINYATTN_ALWAYS_INLINE constexpr void attend_head(const auto& layer, const Scratch& scratch,
                                                  const Item& item, std::size_t head,
                                                  std::size_t first, std::size_t all_rows,
                                                  Dense queries, Output context, const Mask& mask,
                                                  const auto& take_weights) noexcept {
  const std::size_t column = kv_column(layer, head);
  attend<Port, false, known>(
      {all_rows, scratch.query_rows, layer.head_dim, layer.head_dim, first,
       item.index * layer.num_heads + head, queries, scratch.keys.from(column, 0),
       scratch.values.from(0, column), scratch.scores, context, layer.scale},
      mask, take_weights);
}

// Computes block after block: the queries of all heads, their contexts, the output. `known.tokens`
// is the height of a block. Where tiles overlap and have several rows, a last block that is lower
// than the others starts earlier and overlaps its neighbour, unless outputs replace the inputs.
// take_weights then gets the weights of some queries twice, with the same values. In a constant
// expression blocks do not overlap: Clang limits the steps of an evaluation.
template <class Port, LayerShape known = LayerShape{}>
TINYATTN_ALWAYS_INLINE constexpr void forward_inline(const auto& layer, const Scratch& scratch,
                                                     const Item& item, const Mask& mask,
                                                     const auto& take_weights) noexcept {
  const std::size_t width = layer.d_out, size = scratch.block_rows, tokens = item.tokens;
  const bool has_output = !is_null(layer.output.weight);
  constexpr bool may_overlap = Port::tiles_overlap && specializes_shapes<Port>;
  bool overlaps = may_overlap && tokens >= size && item.out.data != item.query_input.data;
  if (__builtin_is_constant_evaluated()) overlaps = false;
  project_source<Port, Shape{known.source_tokens, known.d_in, known.d_out}>(layer, scratch, item);
  for (std::size_t next = 0; next < tokens; next += size) {
    const std::size_t first = minimum(next, tokens - (overlaps ? size : 1));
    const std::size_t rows =
        may_overlap ? minimum(size, tokens - first) : rows_of_block(first, tokens, size);
    const Output out = item.out.from(first, 0), context = has_output ? scratch.block : out;
    project<Port, Shape{known.tokens, known.d_in, known.d_out}>(
        rows, layer.d_in, width, item.query_input.from(first, 0), layer.query, scratch.block);
    rotate<Port>(layer, rows, width, first, scratch.block);
    for (std::size_t head = 0; head < layer.num_heads; ++head)
      attend_head<Port, AttentionShape{known.tokens, known.head_dim, known.source_tokens}>(
          layer, scratch, item, head, first, rows, scratch.block.from(0, head * layer.head_dim),
          context.from(0, head * layer.head_dim), mask, take_weights);
    if (has_output)
      project<Port, Shape{known.tokens, known.d_out, known.d_out}>(rows, width, width, context,
                                                                   layer.output, out);
  }
}

// Does the same for all layers that return no weights, with one copy in flash. Compilers inline it
// where there is one call. The copy for masks without holes contains no search for them.
template <class Port, bool HasHoles>
constexpr void forward_shared(const auto& layer, const Scratch& scratch, const Item& item,
                              const Mask& mask, const auto& take_weights) noexcept {
  forward_inline<Port>(layer, scratch, item, HasHoles ? mask : Mask{mask.keys, mask.diagonal},
                       take_weights);
}

template <class Port, LayerShape known>
TINYATTN_ALWAYS_INLINE constexpr void forward(const auto& layer, const Scratch& scratch,
                                              const Item& item, const Mask& mask,
                                              const auto& take_weights) noexcept {
  if constexpr (!Port::shares_code || known.tokens != 0)
    forward_inline<Port, known>(layer, scratch, item, mask, take_weights);
  else if (mask.has_holes())
    forward_shared<Port, true>(layer, scratch, item, mask, take_weights);
  else
    forward_shared<Port, false>(layer, scratch, item, mask, take_weights);
}

// Computes the contexts of all heads into `out`, head after head: the order in which a training
// pass draws random numbers for dropout.
template <class Port>
constexpr void forward_by_head(const auto& layer, const Scratch& scratch, const Item& item,
                               const Mask& mask, const auto& take_weights) noexcept {
  const std::size_t size = scratch.block_rows, width = layer.d_out;
  project_source<Port>(layer, scratch, item);
  for (std::size_t head = 0; head < layer.num_heads; ++head)
    for (std::size_t first = 0; first < item.tokens; first += size) {
      const std::size_t rows = rows_of_block(first, item.tokens, size),
                        column = head * layer.head_dim;
      const float* const bias = is_null(layer.query.bias) ? nullptr : layer.query.bias + column;
      matmul<Port>({rows, layer.d_in, layer.head_dim, item.query_input.from(first, 0),
                    operand_of(layer.query.weight, width).from(0, column), bias, scratch.block});
      rotate<Port>(layer, rows, layer.head_dim, first, scratch.block);
      attend_head<Port>(layer, scratch, item, head, first, rows, scratch.block,
                        item.out.from(first, column), mask, take_weights);
    }
}

// Applies the output projection to the contexts that are in `out`.
template <class Port>
constexpr void project_output(const Layer& layer, const Scratch& scratch, std::size_t tokens,
                              Output out) noexcept {
  const std::size_t width = layer.d_out, size = scratch.block_rows;
  if (is_null(layer.output.weight)) return;
  for (std::size_t first = 0; first < tokens; first += size) {
    const std::size_t rows = rows_of_block(first, tokens, size);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < width; ++j) *scratch.block.at(i, j) = *out.at(first + i, j);
    project<Port>(rows, width, width, scratch.block, layer.output, out.from(first, 0));
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
