// SPDX-License-Identifier: MIT
//
// What backward passes compute of whole rows, element by element, and sums of products of two rows.
// Each function has one copy in flash. A port may have functions of its own.
#pragma once

#include "tinyattn/kernel/operand.hpp"
#include "tinyattn/kernel/row.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

template <class Port>
concept computes_rows = requires(const float* from, float* to) {
  Port::add_products(from, from, to, 0);
};

// to[j] += from[j].
template <class Port>
[[gnu::noinline]] constexpr void add_row(const float* from, float* to, std::size_t count) noexcept {
  if constexpr (computes_rows<Port>)
    Port::add_row(from, to, count);
  else
    add_rows<Port>(to, from, to, count);
}

// The rows of `to` become those of a matrix, or are added to.
template <class Port>
[[gnu::noinline]] constexpr void copy_rows(std::size_t rows, std::size_t dim, Dense from,
                                           Output to) noexcept {
  for (std::size_t i = 0; i < rows; ++i)
    transform_row<Port>(from.at(i, 0), to.at(i, 0), dim,
                        [](auto v) TINYATTN_INLINE_LAMBDA { return v; });
}
template <class Port>
[[gnu::noinline]] constexpr void add_all_rows(std::size_t rows, std::size_t dim, Dense x,
                                              Output to) noexcept {
  for (std::size_t i = 0; i < rows; ++i) add_row<Port>(x.at(i, 0), to.at(i, 0), dim);
}

// to[j] += a[j] * b[j], rounded once.
template <class Port>
[[gnu::noinline]] constexpr void add_products(const float* a, const float* b, float* to,
                                              std::size_t count) noexcept {
  if constexpr (computes_rows<Port>)
    Port::add_products(a, b, to, count);
  else
    for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      at.store(to, Port::fma(at.load(a, 0.0f), at.load(b, 0.0f), at.load(to, 0.0f)));
    });
}

// to[j] = a[j] * b[j].
template <class Port>
[[gnu::noinline]] constexpr void multiply_elements(const float* a, const float* b, float* to,
                                                   std::size_t count) noexcept {
  if constexpr (computes_rows<Port>)
    Port::multiply_elements(a, b, to, count);
  else
    for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      at.store(to, Port::mul(at.load(a, 0.0f), at.load(b, 0.0f)));
    });
}

// to[j] = from[j] * factor.
template <class Port>
[[gnu::noinline]] constexpr void scale_row(const float* from, float factor, float* to,
                                           std::size_t count) noexcept {
  if constexpr (computes_rows<Port>) {
    Port::scale_row(from, factor, to, count);
  } else {
    const auto by = Port::broadcast(factor);
    transform_row<Port>(from, to, count,
                        [&](auto v) TINYATTN_INLINE_LAMBDA { return Port::mul(v, by); });
  }
}

// Returns the sum of a[j] * b[j] in sixteen lanes, each step one fma.
template <class Port>
[[gnu::noinline]] constexpr float sum_of_products(const float* a, const float* b,
                                                  std::size_t count) noexcept {
  if constexpr (computes_rows<Port>) {
    return Port::sum_of_products(a, b, count);
  } else if constexpr (Port::lanes == 1) {
    return sum_lane_by_lane<Port>(count, [&](std::size_t j, float sum) TINYATTN_INLINE_LAMBDA {
      return Port::fma(a[j], b[j], sum);
    });
  } else {
    typename Port::vec sums[16 / Port::lanes] = {};
    for_each_summand<Port>(count, [&](auto at, std::size_t q) TINYATTN_INLINE_LAMBDA {
      sums[q] = Port::fma(at.load(a, 0.0f), at.load(b, 0.0f), sums[q]);
    });
    return total_of_lanes<Port>(sums);
  }
}

// d_x[j] = scale * (weights[j] * (d_out[j] - D)), D the sum of weights[j] * d_out[j]: the gradient
// of x, where weights = softmax(scale * x). d_x may be d_out, or the weights. A NaN in d_out makes
// the row NaN, also where its weight is 0.
template <class Port>
[[gnu::noinline]] constexpr void softmax_backward_row(const float* weights, const float* d_out,
                                                      float* d_x, std::size_t count,
                                                      float scale) noexcept {
  const float sum = -sum_of_products<Port>(weights, d_out, count);
  if constexpr (computes_rows<Port>)
    return Port::softmax_backward(weights, d_out, d_x, count, sum, scale);
  const auto mean = Port::broadcast(sum), factor = Port::broadcast(scale);
  for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto difference = Port::add(at.load(d_out, 0.0f), mean);
    at.store(d_x, Port::mul(Port::mul(at.load(weights, 0.0f), difference), factor));
  });
}

// table[tokens[i]] += d_out[i], and row position + i of `positions`, if that is not null; i rising.
// A table that is null is frozen. Rows have table.stride or positions.stride floats.
template <class Port>
constexpr void embed_backward(Output table, Output positions, const std::uint16_t* tokens,
                              std::size_t count, std::size_t position, Dense d_out) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const float* const d = d_out.at(i, 0);
    if (!is_null(table.data)) add_row<Port>(d, table.at(tokens[i], 0), table.stride);
    if (!is_null(positions.data)) add_row<Port>(d, positions.at(position + i, 0), positions.stride);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
