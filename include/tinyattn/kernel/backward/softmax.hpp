// SPDX-License-Identifier: MIT
//
// The backward pass of softmax, row by row.
#pragma once

#include "tinyattn/kernel/row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Returns the sum of a[j] * b[j] in sixteen lanes, each step one fma.
template <class Port>
TINYATTN_KERNEL float sum_of_products(const float* a, const float* b, std::size_t count) noexcept {
  if constexpr (Port::lanes == 1) {
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
// of x, of which softmax(scale * x) has made the weights. d_x may be d_out, or the weights. A NaN
// in d_out makes the row NaN, also where its weight is 0.
template <class Port>
[[gnu::noinline]] constexpr void softmax_backward_row(const float* weights, const float* d_out,
                                                      float* d_x, std::size_t count,
                                                      float scale) noexcept {
  const auto mean = Port::broadcast(-sum_of_products<Port>(weights, d_out, count));
  const auto factor = Port::broadcast(scale);
  for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto difference = Port::add(at.load(d_out, 0.0f), mean);
    at.store(d_x, Port::mul(Port::mul(at.load(weights, 0.0f), difference), factor));
  });
}

// The same in place: d, the gradient of the weights, becomes that of the scores.
template <class Port>
TINYATTN_KERNEL void softmax_backward_row(const float* weights, float* d, std::size_t count,
                                          float scale) noexcept {
  softmax_backward_row<Port>(weights, d, d, count, scale);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
