// SPDX-License-Identifier: MIT
//
// The first and the last step of a language model. An embedding reads rows of a table; the head is
// a product with that table, or with a weight of its own.
#pragma once

#include "tinyattn/kernel/int8/product.hpp"
#include "tinyattn/kernel/row.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The table of an embedding with int8 weights.
struct Int8Table {
  Int8Weights weights;
  std::size_t dim;
};

// x[i] = table[tokens[i]], plus row position + i of `positions`, if that is not null.
template <class Port>
constexpr void embed(Dense table, Dense positions, const std::uint16_t* tokens, std::size_t count,
                     std::size_t position, Output x) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const float* const features = table.at(tokens[i], 0);
    if (is_null(positions.data))
      transform_row<Port>(features, x.at(i, 0), table.stride, [](auto v) { return v; });
    else
      add_rows<Port>(features, positions.at(position + i, 0), x.at(i, 0), table.stride);
  }
}

// Whether all tokens are below `count`.
constexpr bool are_known(const std::uint16_t* tokens, std::size_t num_tokens,
                         std::size_t count) noexcept {
  for (std::size_t i = 0; i < num_tokens; ++i)
    if (tokens[i] >= count) return false;
  return true;
}

// embed with a table of int8: a row of codes and a scale for each token.
template <class Port>
constexpr void embed(const Int8Table& table, Dense positions, const std::uint16_t* tokens,
                     std::size_t count, std::size_t position, Output x) noexcept {
  using Single = typename Port::one_lane;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* const codes = table.weights.codes + tokens[i] * row_size(table.dim);
    const float scale = table.weights.scales[tokens[i]];
    for (std::size_t j = 0; j < table.dim; ++j) {
      const float feature = Single::mul(static_cast<float>(codes[j] - 128), scale);
      *x.at(i, j) =
          is_null(positions.data) ? feature : Single::add(feature, *positions.at(position + i, j));
    }
  }
}

// The head, which computes logits from features: by a projection, or by the table of the embedding.
template <class Weight>
struct LogitsHeadOf {
  std::size_t d_model, vocabulary;
  Projection<Weight> projection;  // without a weight, the head is tied
  Weight embedding;
};
using LogitsHead = LogitsHeadOf<const float*>;

// A head of int8: its projection, or the table of the embedding, which has the same layout.
struct Int8LogitsHead {
  std::size_t d_model, vocabulary;
  Projection<Int8Weights> projection;
};

template <class Port>
TINYATTN_KERNEL void compute_logits(const Int8LogitsHead& head, std::size_t rows, Dense x,
                                    Output logits, const IntegerScratch& integers) noexcept {
  project<Port>(rows, head.d_model, head.vocabulary, x, head.projection, logits, integers);
}
template <class Port, class Weight>
TINYATTN_KERNEL void compute_logits(const LogitsHeadOf<Weight>& head, std::size_t rows, Dense x,
                                    Output logits, const auto&) noexcept {
  if (!is_null(head.projection.weight))
    return project_few<Port>(rows, head.d_model, head.vocabulary, x, head.projection, logits);
  using Table = Transposed<decltype(operand_of(head.embedding, head.d_model))>;
  const Table table{operand_of(head.embedding, head.d_model)};
  for (std::size_t i = 0; i < rows; ++i)
    matmul_row<Port>(Product<Dense, Table>{1, head.d_model, head.vocabulary, x.from(i, 0), table,
                                           nullptr, logits.from(i, 0)});
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
