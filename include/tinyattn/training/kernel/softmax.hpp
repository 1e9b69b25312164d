// SPDX-License-Identifier: MIT
//
// The backward pass of softmax, row by row.
#pragma once

#include "tinyattn/training/kernel/row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// d_x[j] = scale * (weights[j] * (d_out[j] - D)), D the sum of weights[j] * d_out[j]: the gradient
// of x, of which softmax(scale * x) has made the weights. d_x may be d_out, or the weights. A NaN
// in d_out makes the row NaN, also where its weight is 0.
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

// The same in place: d, the gradient of the weights, becomes that of the scores.
template <class Port>
TINYATTN_KERNEL void softmax_backward_row(const float* weights, float* d, std::size_t count,
                                          float scale) noexcept {
  softmax_backward_row<Port>(weights, d, d, count, scale);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
