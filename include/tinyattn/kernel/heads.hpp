// SPDX-License-Identifier: MIT
//
// The heads of an attention layer, over one item of a batch. A head is a range of columns of the queries, keys
// and values: nothing is reshaped or copied.
#pragma once

#include "tinyattn/kernel/attention.hpp"
#include "tinyattn/kernel/projection.hpp"
#include "tinyattn/kernel/transpose.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// Blocks are high where a port gains by it, but no higher than sixteen rows or a quarter of the context: most of the scratch is
// keys and values. Where flash is dear they are even: what is compiled for the height of a block is there once.
constexpr std::size_t quarter(std::size_t context_length) noexcept { return context_length < 64 ? 16 : context_length / 4; }

// All the scratch of a layer: its keys and values, a block of rows, and the scores of a few queries of one head.
template <class Port, std::size_t Width, std::size_t ContextLength>
struct HeadsWorkspace {
  static constexpr std::size_t most_rows = smaller(ContextLength, smaller(Port::block_rows, quarter(ContextLength)));
  static constexpr std::size_t block_rows = Port::shares_code ? evenly(ContextLength, most_rows) : most_rows;
  static constexpr std::size_t query_rows = smaller(block_rows, Port::query_rows);
  static constexpr std::size_t row_size = padded<narrowed<Port, Extent<ContextLength>>>(ContextLength);

  float keys[Width * row_size];         // transposed: [Width, ContextLength]
  float values[ContextLength * Width];  // [ContextLength, Width]
  float block[block_rows * Width];      // queries, which their contexts overwrite
  float scores[query_rows * row_size];
};

// query, key, value   Projections from an input to NumHeads * HeadDim columns
// output              a Projection of the context, or NoProjection
// workspace           a HeadsWorkspace, or what is derived from one
template <std::size_t NumHeads, std::size_t HeadDim, class Workspace, class Input, class Output>
struct Heads {
  static constexpr std::size_t width = NumHeads * HeadDim;
  static constexpr bool has_output = !std::is_same_v<Output, NoProjection>;

  Input query;
  Input key;
  Input value;
  Output output;
  Workspace& workspace;

  constexpr RowMajor<float, Extent<width>> block() const noexcept { return {workspace.block, {}}; }

  // Keys are stored transposed, so that the scores of a block are products with rows. They are projected to where the values
  // will stand.
  template <class Port>
  constexpr void project_source(auto source_tokens, const auto& key_input, const auto& value_input) const noexcept {
    const RowMajor<float, Extent<width>> values{workspace.values, {}};
    project<Port>(source_tokens, key_input, key, values);
    transpose<Port>(source_tokens, Extent<width>{}, values, RowMajor<float, Extent<Workspace::row_size>>{workspace.keys, {}});
    project<Port>(source_tokens, value_input, value, values);
  }

  // The contexts of one head for the queries of a block. `queries` and `context` start at the head's first column.
  template <class Port>
  constexpr void attend_head(std::size_t head, auto all_rows, const auto& queries, const auto& context, const auto& visible,
                             const auto& take_weights) const noexcept {
    const std::size_t first = head * HeadDim;
    const RowMajor<float, Extent<Workspace::row_size>> keys{workspace.keys + first * Workspace::row_size, {}};
    const RowMajor<float, Extent<width>> values{workspace.values + first, {}};
    const RowMajor<float, Extent<Workspace::row_size>> scores{workspace.scores, {}};
    for_each_block<Workspace::query_rows>(all_rows, [&](std::size_t i, auto rows) {
      attend<Port>(rows, Extent<HeadDim>{}, Extent<HeadDim>{}, queries.from(i, 0), keys, values, scores, context.from(i, 0),
                   detail::inverse_sqrt<HeadDim>, see_from(visible, i), take_weights.from(0, i));
    });
  }

  // Block after block: queries of all heads, their contexts, output. `out` may be `query_input`.
  template <class Port>
  constexpr void forward(auto tokens, const auto& query_input, const auto& out, const auto& visible,
                         const auto& take_weights) const noexcept {
    for_each_block<Workspace::block_rows>(tokens, [&](std::size_t first, auto rows) {
      project<Port>(rows, query_input.from(first, 0), query, block());
      for (std::size_t head = 0; head < NumHeads; ++head)
        attend_head<Port>(head, rows, block().from(0, head * HeadDim), context_of(out.from(first, 0)).from(0, head * HeadDim),
                          see_from(visible, first), take_weights.from(head, first));
      if constexpr (has_output) project<Port>(rows, block(), output, out.from(first, 0));
    });
  }

  // Head after head, the order in which a training pass draws its dropout: the contexts of all heads, into `out`.
  template <class Port>
  constexpr void forward_by_head(auto tokens, const auto& query_input, const auto& out, const auto& visible,
                                 const auto& take_weights) const noexcept {
    for (std::size_t head = 0; head < NumHeads; ++head)
      for_each_block<Workspace::block_rows>(tokens, [&](std::size_t first, auto rows) {
        project<Port>(rows, query_input.from(first, 0), query.template outputs<HeadDim>(head * HeadDim), block());
        attend_head<Port>(head, rows, block(), out.from(first, head * HeadDim), see_from(visible, first), take_weights.from(head, first));
      });
  }

  // The output projection of contexts that stand in `out`.
  template <class Port>
  constexpr void project_output(auto tokens, const auto& out) const noexcept {
    if constexpr (has_output)
      for_each_block<Workspace::block_rows>(tokens, [&](std::size_t first, auto rows) {
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < width; ++j) *block().at(i, j) = *out.at(first + i, j);
        project<Port>(rows, block(), output, out.from(first, 0));
      });
  }

 private:
  // Where the contexts of a block go: over the queries if they are projected, else straight out.
  constexpr auto context_of(const auto& out) const noexcept {
    if constexpr (has_output)
      return block();
    else
      return out;
  }
};

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
