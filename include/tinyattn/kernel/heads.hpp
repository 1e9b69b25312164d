// SPDX-License-Identifier: MIT
//
// The heads of an attention layer, over one item of a batch. A head is a range of columns of the queries, keys
// and values: nothing is reshaped or copied.
#pragma once

#include "tinyattn/kernel/attention.hpp"
#include "tinyattn/kernel/projection.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// All the scratch of a layer: its keys and values, and a block of a few query rows.
template <std::size_t Width, std::size_t ContextLength, std::size_t BlockRows>
struct HeadsWorkspace {
  float keys[Width * ContextLength];    // transposed: [Width, ContextLength]
  float values[ContextLength * Width];  // [ContextLength, Width]
  float block[BlockRows * Width];       // queries, which their contexts overwrite
  float scores[BlockRows * ContextLength];
};

// query, key, value   Projections from an input to NumHeads * HeadDim columns
// output              a Projection of the context, or NoProjection
template <std::size_t NumHeads, std::size_t HeadDim, std::size_t ContextLength, std::size_t BlockRows, class Input, class Output>
struct Heads {
  static constexpr std::size_t width = NumHeads * HeadDim;
  static constexpr bool has_output = !std::is_same_v<Output, NoProjection>;

  Input query;
  Input key;
  Input value;
  Output output;
  HeadsWorkspace<width, ContextLength, BlockRows>& workspace;

  constexpr RowMajor<float, Extent<width>> block() const noexcept { return {workspace.block, {}}; }

  // Keys are stored transposed, so that the scores of a block are products with rows.
  template <class Port>
  constexpr void project_source(auto source_tokens, const auto& key_input, const auto& value_input) const noexcept {
    const RowMajor<float, Extent<width>> values{workspace.values, {}};
    for_each_block<BlockRows>(source_tokens, [&](std::size_t first, auto rows) {
      project<Port>(rows, key_input.from(first, 0), key, block());
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < width; ++j) workspace.keys[j * ContextLength + first + i] = *block().at(i, j);
      project<Port>(rows, value_input.from(first, 0), value, values.from(first, 0));
    });
  }

  // The contexts of one head for `rows` queries. `queries` and `context` start at the head's first column.
  template <class Port>
  constexpr void attend_head(std::size_t head, auto rows, const auto& queries, const auto& context, const auto& visible,
                             const auto& take_weights) const noexcept {
    const std::size_t first = head * HeadDim;
    const RowMajor<float, Extent<ContextLength>> keys{workspace.keys + first * ContextLength, {}};
    const RowMajor<float, Extent<width>> values{workspace.values + first, {}};
    const RowMajor<float, Extent<ContextLength>> scores{workspace.scores, {}};
    attend<Port>(rows, Extent<HeadDim>{}, Extent<HeadDim>{}, queries, keys, values, scores, context, detail::inverse_sqrt<HeadDim>, visible,
                 take_weights);
  }

  // Block after block: queries of all heads, their contexts, output. `out` may be `query_input`.
  template <class Port>
  constexpr void forward(auto tokens, const auto& query_input, const auto& out, const auto& visible,
                         const auto& take_weights) const noexcept {
    for_each_block<BlockRows>(tokens, [&](std::size_t first, auto rows) {
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
      for_each_block<BlockRows>(tokens, [&](std::size_t first, auto rows) {
        project<Port>(rows, query_input.from(first, 0), query.template outputs<HeadDim>(head * HeadDim), block());
        attend_head<Port>(head, rows, block(), out.from(first, head * HeadDim), see_from(visible, first), take_weights.from(head, first));
      });
  }

  // The output projection of contexts that stand in `out`.
  template <class Port>
  constexpr void project_output(auto tokens, const auto& out) const noexcept {
    if constexpr (has_output)
      for_each_block<BlockRows>(tokens, [&](std::size_t first, auto rows) {
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
