// SPDX-License-Identifier: MIT
//
// Reductions over tokens, column by column.
#pragma once

#include "tinyattn/kernel/int8/quantize.hpp"
#include "tinyattn/kernel/operand.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// out[j] = (x[0][j] + x[1][j] + ...) * (1 / rows): each sum, each product and the quotient are
// rounded.
template <class Port>
constexpr void mean_of_rows(std::size_t rows, std::size_t cols, Dense x, float* out) noexcept {
  const auto share = Port::broadcast(1.0f / static_cast<float>(rows));
  for_each_vector<Port>(cols, [&](auto at) TINYATTN_INLINE_LAMBDA {
    auto sum = at.load(x.data, 0.0f);
    for (std::size_t i = 1; i < rows; ++i) sum = Port::add(sum, at.load(x.at(i, 0), 0.0f));
    at.store(out, Port::mul(sum, share));
  });
}

// The bits of a float as an integer of the same order, and back. A NaN lies above infinity or below
// -infinity, and +0 above -0.
template <class Vector>
TINYATTN_KERNEL Vector in_order_of_floats(Vector bits) noexcept {
  return bits ^ (bits >> 31 & 0x7fffffff);
}

// out[j] = the maximum of x[0][j], x[1][j], ..., or NaN if one of them is.
template <class Port, class Integral = IntegerPort<Port>>
constexpr void maximum_of_rows(std::size_t rows, std::size_t cols, Dense x, float* out) noexcept {
  constexpr auto infinity = static_cast<std::int32_t>(infinity_bits);
  for_each_vector<Integral>(cols, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto number = [&](std::size_t i) TINYATTN_INLINE_LAMBDA {
      return in_order_of_floats(as_integers<Integral>(at.load(x.at(i, 0), 0.0f)));
    };
    auto most = number(0), least = most;
    for (std::size_t i = 1; i < rows; ++i) {
      const auto next = number(i);
      most = greater(most, next);
      least = lesser(least, next);
    }
    const Integers<Integral> none{}, highest = none + infinity, lowest = none - infinity - 1;
    const Integers<Integral> nan = none + static_cast<std::int32_t>(nan_bits);
    at.store(out, as_vector<Integral>(most > highest   ? nan
                                      : least < lowest ? nan
                                                       : in_order_of_floats(most)));
  });
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
