// SPDX-License-Identifier: MIT
//
// What backward passes compute of whole rows, element by element, and sums of products of two rows.
// Each function has one copy in flash. A port may have functions of its own.
#pragma once

#include "tinyattn/kernel/row.hpp"

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

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
