// SPDX-License-Identifier: MIT
//
// The backward pass of a convolution: two products for each token of the kernel, over the tokens of
// the result for which it lies in x. Products with the padding are left out.
#pragma once

#include "tinyattn/kernel/convolution.hpp"
#include "tinyattn/training/kernel/projection.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The `count` tokens of the result, from `first` on, for which position k of the kernel meets a
// token of x: token `start` first, then every stride-th.
struct ConvolvedTokens {
  std::size_t first, count, start;

  constexpr ConvolvedTokens(const Convolution& c, std::size_t k) noexcept
      : first(k < c.padding ? (c.padding - k + c.stride - 1) / c.stride : 0),
        count(0),
        start(first * c.stride + k - c.padding) {
    const std::size_t rows = c.rows();
    if (start < c.tokens && first < rows)
      count = minimum((c.tokens - start - 1) / c.stride + 1, rows - first);
  }
};

// gradient.weight[k * in + j] += the sum over i of x[i * stride + k - padding][j] * d_out[i], and
// gradient.bias += the rows of d_out, i rising.
template <class Port>
constexpr void add_convolution_gradient(const Convolution& c, const float* x, Dense d_out,
                                        const ProjectionGradient& gradient) noexcept {
  if (!is_null(gradient.bias)) add_column_sums<Port>(c.rows(), c.out, d_out, gradient.bias);
  if (is_null(gradient.weight)) return;
  for (std::size_t k = 0; k < c.kernel; ++k) {
    const ConvolvedTokens tokens(c, k);
    if (tokens.count != 0)
      add_outer_product<Port>({c.in,
                               tokens.count,
                               c.out,
                               Dense{x + tokens.start * c.in, c.stride * c.in},
                               d_out.from(tokens.first, 0),
                               {gradient.weight + k * c.in * c.out, c.out}});
  }
}

// d_x[t][j] = the sum over i, then o, of d_out[i][o] * weight[k * in + j][o], k = t + padding - i *
// stride: one chain from +0, i rising and o rising. So k falls: a product for each k goes on from
// what d_x holds. d_x is [tokens, in], without gaps, and may not overlap d_out.
template <class Port>
constexpr void convolve_backward(const Convolution& c, Dense d_out, const float* weight,
                                 float* d_x) noexcept {
  for (std::size_t j = 0; j < c.tokens * c.in; ++j) d_x[j] = 0.0f;
  for (std::size_t k = c.kernel; k-- > 0;) {
    const ConvolvedTokens tokens(c, k);
    if (tokens.count != 0)
      project_backward<Port, true>(tokens.count, c.in, c.out, d_out.from(tokens.first, 0),
                                   weight + k * c.in * c.out,
                                   {d_x + tokens.start * c.in, c.stride * c.in});
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
