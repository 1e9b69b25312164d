// SPDX-License-Identifier: MIT
//
// The backward passes of reductions over tokens, column by column.
#pragma once

#include "tinyattn/kernel/operand.hpp"
#include "tinyattn/kernel/row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// d_x[i] = d_out * (1 / rows) for each of `rows` rows.
template <class Port>
constexpr void mean_backward(std::size_t rows, std::size_t cols, const float* d_out,
                             Output d_x) noexcept {
  const auto share = Port::broadcast(1.0f / static_cast<float>(rows));
  for_each_vector<Port>(cols, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto d = Port::mul(at.load(d_out, 0.0f), share);
    for (std::size_t i = 0; i < rows; ++i) at.store(d_x.at(i, 0), d);
  });
}

// d_x[i][j] = d_out[j] where x[i][j] is the first maximum of its column, else 0. d_x may be x.
// Row numbers are floats, which are exact up to 2^24.
template <class Port>
constexpr void maximum_backward(std::size_t rows, std::size_t cols, Dense x, const float* d_out,
                                Output d_x) noexcept {
  const auto one = Port::broadcast(1.0f);
  for_each_vector<Port>(cols, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto zero = Port::splat(0.0f);
    auto most = at.load(x.data, 0.0f), first = zero, row = zero;
    for (std::size_t i = 1; i < rows; ++i) {
      const auto next = at.load(x.at(i, 0), 0.0f);
      row = Port::add(row, one);
      first = Port::select_less(most, next, row, first);
      most = Port::select_less(most, next, next, most);
    }
    const auto d = at.load(d_out, 0.0f);
    row = zero;
    for (std::size_t i = 0; i < rows; ++i, row = Port::add(row, one))
      at.store(d_x.at(i, 0),
               Port::select_less(first, row, zero, Port::select_less(row, first, zero, d)));
  });
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
