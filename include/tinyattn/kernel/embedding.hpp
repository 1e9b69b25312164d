// SPDX-License-Identifier: MIT
//
// The first and the last step of a language model. An embedding reads rows of a table; the head is
// a product with that table, or with a weight of its own.
#pragma once

#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/row.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

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

// The head, which computes logits from features: by a projection, or by the table of the embedding.
struct Head {
  std::size_t d_model, vocabulary;
  Projection<> projection;  // without a weight, the head is tied
  const float* embedding;
};

template <class Port>
TINYATTN_KERNEL void compute_logits(const Head& head, std::size_t rows, Dense x,
                                    Output logits) noexcept {
  const std::size_t d_model = head.d_model, vocabulary = head.vocabulary;
  if (!is_null(head.projection.weight))
    return project_few<Port>(rows, d_model, vocabulary, x, head.projection, logits);
  const Transposed<> table{{head.embedding, d_model}};
  for (std::size_t i = 0; i < rows; ++i)
    matmul_row<Port>(Product<Dense, Transposed<>>{1, d_model, vocabulary, x.from(i, 0), table,
                                                  nullptr, logits.from(i, 0)});
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
