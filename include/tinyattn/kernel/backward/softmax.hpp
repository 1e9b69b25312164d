// SPDX-License-Identifier: MIT
//
// The backward pass of softmax.
#pragma once

#include "tinyattn/kernel/row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The sum of a[j] * b[j] in sixteen lanes, each step one fma.
template <class Port>
TINYATTN_KERNEL float sum_of_products(const float* a, const float* b, std::size_t count) noexcept {
  typename Port::vec sums[16 / Port::lanes] = {};
  for_each_summand<Port>(count, [&](auto at, std::size_t q) TINYATTN_INLINE_LAMBDA {
    sums[q] = Port::fma(at.load(a, 0.0f), at.load(b, 0.0f), sums[q]);
  });
  return total_of_lanes<Port>(sums);
}

// d[j] = scale * (weights[j] * (d[j] - D)), D the sum of weights[j] * d[j].
template <class Port>
constexpr void softmax_backward_row(const float* weights, float* d, std::size_t count,
                                    float scale) noexcept {
  const auto shift = Port::splat(-sum_of_products<Port>(weights, d, count));
  const auto factor = Port::broadcast(scale);
  for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto difference = Port::add(at.load(d, 0.0f), shift);
    at.store(d, Port::mul(Port::mul(at.load(weights, 0.0f), difference), factor));
  });
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
