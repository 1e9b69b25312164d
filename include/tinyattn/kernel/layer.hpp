// SPDX-License-Identifier: MIT
//
// An attention layer over one element of a batch. A head is a range of columns of the queries, keys
// and values: nothing is reshaped or copied.
#pragma once

#include "tinyattn/kernel/attention.hpp"
#include "tinyattn/kernel/int8/product.hpp"
#include "tinyattn/kernel/normalization.hpp"
#include "tinyattn/kernel/rotary.hpp"
#include "tinyattn/kernel/transpose.hpp"
#include "tinyattn/scratch.h"

#include <cstdint>
#include <type_traits>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

template <class Weight = const float*>
struct Layer {
  std::size_t d_in, d_out, num_heads, head_dim;
  float scale;  // of the scores
  Projection<Weight> query, key, value, output;
};

// A layer in which `group` query heads share each key head, or in which queries and keys rotate
// with their position.
template <class Weight = const float*, class Rotations = Rotation>
struct GroupedLayer : Layer<Weight> {
  std::size_t group;
  Rotations rotation;
};

// A layer whose queries and keys are normalized head by head if their norms have weights, and whose
// output has `out` features, not d_out.
template <class Weight = const float*, class Rotations = Rotation>
struct LayerOfHeads : GroupedLayer<Weight, Rotations> {
  Norm query_norm, key_norm;
  std::size_t out;
};

// A layer whose keys and values have inputs of other widths than queries.
template <class Base>
struct OtherSources : Base {
  std::size_t d_key, d_value;
};
TINYATTN_KERNEL std::size_t key_inputs(const auto& layer) noexcept {
  if constexpr (requires { layer.d_key; })
    return layer.d_key;
  else
    return layer.d_in;
}
TINYATTN_KERNEL std::size_t value_inputs(const auto& layer) noexcept {
  if constexpr (requires { layer.d_value; })
    return layer.d_value;
  else
    return layer.d_in;
}

// A layer with `biases` learned keys and values before those of the source.
template <class Base>
struct WithBiases : Base {
  std::size_t biases;
  const float *bias_k, *bias_v;  // [biases, kv_width]
};

// How many query heads share a key head.
TINYATTN_KERNEL std::size_t group(const auto& layer) noexcept {
  if constexpr (requires { layer.group; })
    return layer.group;
  else
    return 1;
}

// The width of all key heads, and the column at which the keys of a query head begin.
TINYATTN_KERNEL std::size_t kv_width(const auto& layer) noexcept {
  return layer.d_out / group(layer);
}
TINYATTN_KERNEL std::size_t kv_column(const auto& layer, std::size_t head) noexcept {
  return head / group(layer) * layer.head_dim;
}

// The number of features of the output.
TINYATTN_KERNEL std::size_t out_width(const auto& layer) noexcept {
  if constexpr (requires { layer.out; })
    return layer.out;
  else
    return layer.d_out;
}

// Normalizes `columns` columns of `rows` rows head by head.
template <class Port>
constexpr void normalize_heads(const Norm& norm, std::size_t rows, std::size_t columns,
                               Output x) noexcept {
  for (std::size_t c = 0; c < columns && !is_null(norm.weight); c += norm.dim)
    normalize_features<Port>(norm, rows, x.from(0, c), x.from(0, c));
}

// Applies rotary positions, if the layer has them, to `columns` columns of `rows` rows; row r is at
// position `position` + r.
template <class Port>
TINYATTN_KERNEL void rotate(const auto& layer, std::size_t rows, std::size_t columns,
                            std::size_t position, Output x) noexcept {
  if constexpr (requires { layer.rotation; })
    rotate<Port>(layer.rotation, rows, columns / layer.head_dim, layer.head_dim, position, x);
}

// Applies the norms and the rotary positions of a layer to projected queries or keys, as above.
template <class Port>
TINYATTN_KERNEL void place_queries(const auto& layer, std::size_t rows, std::size_t columns,
                                   std::size_t position, Output x) noexcept {
  if constexpr (requires { layer.query_norm; })
    normalize_heads<Port>(layer.query_norm, rows, columns, x);
  rotate<Port>(layer, rows, columns, position, x);
}
template <class Port>
TINYATTN_KERNEL void place_keys(const auto& layer, std::size_t rows, std::size_t columns,
                                std::size_t position, Output x) noexcept {
  if constexpr (requires { layer.key_norm; })
    normalize_heads<Port>(layer.key_norm, rows, columns, x);
  rotate<Port>(layer, rows, columns, position, x);
}

// Returns the layer at one position: rotary positions are then a table of this position alone,
// which is computed in `table`, head_dim floats.
template <class Port>
TINYATTN_KERNEL decltype(auto) layer_at(const auto& layer, std::size_t position,
                                        float* table) noexcept {
  if constexpr (requires { layer.query_norm; }) {
    const auto rotation = rotation_at<Port>(layer.rotation, position, layer.head_dim, table);
    return LayerOfHeads<decltype(layer.query.weight), std::remove_const_t<decltype(rotation)>>{
        {layer, layer.group, rotation}, layer.query_norm, layer.key_norm, layer.out};
  } else if constexpr (requires { layer.rotation; }) {
    return GroupedLayer<decltype(layer.query.weight)>{
        layer, layer.group, rotation_at<Port>(layer.rotation, position, layer.head_dim, table)};
  } else {
    return (layer);
  }
}

// One element of a batch: its inputs and its output.
struct BatchElement {
  std::size_t index;  // in its batch
  std::size_t tokens, source_tokens;
  Dense query_input;  // [tokens, d_in]
  Dense key_input;    // [source tokens, d_key]
  Dense value_input;  // [source tokens, d_value]
  Output out;         // [tokens, d_out]; may be query_input
};

template <class Integers = NoScratch>
struct Scratch {
  Output keys;    // transposed: [kv_width, source tokens], in rows padded to whole vectors
  Output values;  // [source tokens, kv_width]
  Output block;   // [block_rows, d_out]: queries, which their contexts overwrite
  Output scores;  // [query_rows, source tokens], in padded rows
  // rows that are projected at once, and queries for which one head is computed at once
  std::size_t block_rows, query_rows;
  [[no_unique_address]] Integers integers;  // of inputs, if weights are int8
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

// Where the parts of a layer's scratch begin after its keys, and its size, in floats.
struct LayerLayout {
  std::size_t values, scores, block, size;
};
TINYATTN_KERNEL LayerLayout layer_layout(std::size_t width, std::size_t kv_width,
                                         std::size_t source_tokens, std::size_t block_rows,
                                         std::size_t query_rows) noexcept {
  const std::size_t padded = TINYATTN_PADDED(source_tokens), values = kv_width * padded;
  const std::size_t scores = values + source_tokens * kv_width;
  const std::size_t block = scores + query_rows * padded;
  return {values, scores, block, block + block_rows * width};
}

// Returns the size that is enough for each port of the architecture.
constexpr std::size_t layer_scratch(std::size_t width, std::size_t kv_width, std::size_t tokens,
                                    std::size_t source_tokens) noexcept {
  return layer_layout(width, kv_width, source_tokens, TINYATTN_BLOCK_ROWS(tokens),
                      TINYATTN_QUERY_ROWS(tokens))
      .size;
}

// Divides the scratch of a layer. query_rows is at most the number of tokens.
template <class Integers = NoScratch>
TINYATTN_KERNEL Scratch<Integers> parts_of(float* scratch, std::size_t width, std::size_t kv_width,
                                           std::size_t source_tokens, std::size_t block_rows,
                                           std::size_t query_rows,
                                           Integers integers = {}) noexcept {
  const LayerLayout at = layer_layout(width, kv_width, source_tokens, block_rows, query_rows);
  const std::size_t padded = TINYATTN_PADDED(source_tokens);
  return {{scratch, padded},
          {scratch + at.values, kv_width},
          {scratch + at.block, width},
          {scratch + at.scores, padded},
          block_rows,
          query_rows,
          integers};
}

// Projects keys and values. Keys are stored transposed, so that the scores of a block are products
// with rows: they are projected into the memory of the values, and transposed from there.
template <class Port, Shape shape = Shape{}>
TINYATTN_KERNEL void project_source(const auto& layer, const auto& scratch,
                                    const BatchElement& element) noexcept {
  const std::size_t tokens = element.source_tokens, width = kv_width(layer);
  project<Port, shape>(tokens, key_inputs(layer), width, element.key_input, layer.key,
                       scratch.values, scratch.integers);
  place_keys<Port>(layer, tokens, width, 0, scratch.values);
  transpose<Port>(tokens, width, scratch.values, scratch.keys);
  project<Port, shape>(tokens, value_inputs(layer), width, element.value_input, layer.value,
                       scratch.values, scratch.integers);
}

// The same, of learned keys and values, then of those of the source.
template <class Port, Shape shape = Shape{}, class Base>
TINYATTN_KERNEL void project_source(const WithBiases<Base>& layer, const auto& scratch,
                                    const BatchElement& element) noexcept {
  const std::size_t count = layer.biases, width = kv_width(layer);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < width; ++j) {
      *scratch.keys.at(j, i) = layer.bias_k[i * width + j];
      *scratch.values.at(i, j) = layer.bias_v[i * width + j];
    }
  const Base& without = layer;
  auto behind = scratch;
  behind.keys = scratch.keys.from(0, count);
  behind.values = scratch.values.from(count, 0);
  project_source<Port, shape>(without, behind, element);
}

// Computes block after block: the queries of all heads, their contexts, the output. `known.tokens`
// is the height of a block. Where tiles overlap and have several rows, a last block that is lower
// than the others starts earlier and overlaps its neighbour, unless outputs replace the inputs.
// take_weights then gets the weights of some queries twice, with the same values. In a constant
// expression blocks do not overlap: Clang limits the steps of an evaluation.
template <class Port, CallShape known = CallShape{}>
TINYATTN_KERNEL void forward_inline(const auto& layer, const auto& scratch,
                                    const BatchElement& element, const auto& mask,
                                    const auto& take_weights) noexcept {
  const std::size_t width = layer.d_out, dim = layer.head_dim;
  const std::size_t size = scratch.block_rows, tokens = element.tokens;
  const bool has_output = !is_null(layer.output.weight);
  constexpr bool may_overlap = Port::tiles_overlap && specializes_shapes<Port>;
  bool overlaps = may_overlap && tokens >= size && element.out.data != element.query_input.data;
  if (__builtin_is_constant_evaluated()) overlaps = false;
  project_source<Port, Shape{known.source_tokens, known.d_in, known.d_out}>(layer, scratch,
                                                                            element);
  for (std::size_t next = 0; next < tokens; next += size) {
    const std::size_t first = minimum(next, tokens - (overlaps ? size : 1));
    const std::size_t rows =
        may_overlap ? minimum(size, tokens - first) : rows_of_block(first, tokens, size);
    const Output out = element.out.from(first, 0);
    Output context = scratch.block;
    if (!has_output) context = out;
    project<Port, Shape{known.tokens, known.d_in, known.d_out}>(
        rows, layer.d_in, width, element.query_input.from(first, 0), layer.query, scratch.block,
        scratch.integers);
    place_queries<Port>(layer, rows, width, first, scratch.block);
    for (std::size_t head = 0; head < layer.num_heads; ++head) {
      const std::size_t column = head * dim, key_column = kv_column(layer, head),
                        index = element.index * layer.num_heads + head;
      attend<Port, false, known>(
          {rows, scratch.query_rows, dim, dim, first, index, scratch.block.from(0, column),
           scratch.keys.from(key_column, 0), scratch.values.from(0, key_column), scratch.scores,
           context.from(0, column), layer.scale},
          mask_of_head(mask, index), take_weights);
    }
    if (has_output)
      project<Port, Shape{known.tokens, known.d_out, known.d_out}>(
          rows, width, out_width(layer), context, layer.output, out, scratch.integers);
  }
}

// forward_inline as a function: one copy in flash for all layers that return no weights, and a
// second one if some masks have holes. Compilers inline it where there is one call. A mask without
// holes has neither flags nor addends, so its copy contains no search for masked keys.
template <class Port, bool HasHoles>
constexpr void forward_shared(const auto& layer, const auto& scratch, const BatchElement& element,
                              const auto& mask, const auto& take_weights) noexcept {
  const Mask plain{mask.keys, mask.diagonal};
  forward_inline<Port>(layer, scratch, element, HasHoles ? mask : without_holes(mask, plain),
                       take_weights);
}

template <class Port, CallShape known>
TINYATTN_KERNEL void forward(const auto& layer, const auto& scratch, const BatchElement& element,
                             const auto& mask, const auto& take_weights) noexcept {
  if constexpr (!Port::shares_code || known.tokens != 0)
    forward_inline<Port, known>(layer, scratch, element, mask, take_weights);
  else if (mask.has_holes())
    forward_shared<Port, true>(layer, scratch, element, mask, take_weights);
  else
    forward_shared<Port, false>(layer, scratch, element, mask, take_weights);
}

// Computes the contexts of all heads into `out`, which may overlap no input. All queries are one
// block, which is projected into `out` and then overwritten by the contexts. So heads come one
// after the other: the order in which a training pass draws random numbers for dropout.
template <class Port>
constexpr void forward_by_head(auto layer, auto scratch, const BatchElement& element,
                               const auto& mask, const auto& take_weights) noexcept {
  layer.output = {};
  scratch.block = element.out;
  scratch.block_rows = element.tokens;
  forward_inline<Port>(layer, scratch, element, mask, take_weights);
}

// Applies the output projection to the contexts that are in `out`.
template <class Port>
constexpr void project_output(const auto& layer, const auto& scratch, std::size_t tokens,
                              Output out) noexcept {
  const std::size_t width = layer.d_out, size = scratch.block_rows;
  if (is_null(layer.output.weight)) return;
  for (std::size_t first = 0; first < tokens; first += size) {
    const std::size_t rows = rows_of_block(first, tokens, size);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < width; ++j) *scratch.block.at(i, j) = *out.at(first + i, j);
    project<Port>(rows, width, width, scratch.block, layer.output, out.from(first, 0),
                  scratch.integers);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
