// SPDX-License-Identifier: MIT
//
// A convolution over tokens: a product whose rows overlap, so that nothing is copied.
#pragma once

#include "tinyattn/kernel/int8/product.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The sizes of a convolution: a row of its product is `kernel` tokens of `in` features, and begins
// `stride` tokens after the row before it, the first one `padding` tokens before x.
struct Convolution {
  std::size_t tokens, in, out, kernel, stride, padding;

  // The features of a row.
  constexpr std::size_t width() const noexcept { return kernel * in; }
  // The number of rows of the product; the kernel is no longer than x and its padding.
  constexpr std::size_t rows() const noexcept {
    return (tokens + 2 * padding - kernel) / stride + 1;
  }
  // Rows begin to end have all their tokens in x. A product computes the address of the row after
  // the last, which may be outside of x if rows lie apart: then the last row is left out.
  constexpr std::size_t begin_of_whole() const noexcept {
    return minimum((padding + stride - 1) / stride, rows());
  }
  constexpr std::size_t end_of_whole() const noexcept {
    const std::size_t count =
        tokens + padding < kernel ? 0 : (tokens + padding - kernel) / stride + 1;
    const std::size_t end = stride > kernel && count != 0 ? count - 1 : count;
    return maximum(begin_of_whole(), minimum(end, rows()));
  }
};

// Computes row i, of which some tokens may be padding: takes the part of the kernel that is
// inside of x. Products with zeros would add nothing.
template <class Port, class Weight>
[[gnu::noinline]] constexpr void convolve_row(const Convolution& c, std::size_t i, const float* x,
                                              const Projection<Weight>& to, Output out,
                                              const NoScratch& none, float*) noexcept {
  const std::size_t start = i * c.stride;  // of the row, from the first token of the padding on
  const std::size_t skipped = start < c.padding ? c.padding - start : 0;
  const std::size_t end = minimum(c.kernel, c.tokens + c.padding - start);
  project<Port>(
      1, (end - skipped) * c.in, c.out, Dense{x + (start + skipped - c.padding) * c.in, 0},
      Projection<Weight>{to.weight + skipped * c.in * c.out, to.bias}, out.from(i, 0), none);
}

// With int8 weights the row is copied to `padded` and filled with zeros.
template <class Port>
[[gnu::noinline]] constexpr void convolve_row(const Convolution& c, std::size_t i, const float* x,
                                              const Projection<Int8Weights>& to, Output out,
                                              const IntegerScratch& integers,
                                              float* padded) noexcept {
  const std::size_t start = i * c.stride;
  for (std::size_t k = 0; k < c.kernel; ++k) {
    const bool is_inside = start + k >= c.padding && start + k - c.padding < c.tokens;
    for (std::size_t j = 0; j < c.in; ++j)
      padded[k * c.in + j] = is_inside ? x[(start + k - c.padding) * c.in + j] : 0.0f;
  }
  project<Port>(1, c.width(), c.out, Dense{padded, 0}, to, out.from(i, 0), integers);
}

// out[i] = bias + the sum over k and j of x[i * stride + k - padding][j] * weight[k * in + j], in
// rising order of k and j. `padded` has room for a row if weights are int8, and some rows are not
// whole. Where all rows are whole, no code reads it.
template <class Port, bool all_whole = false, class Weight>
TINYATTN_KERNEL void convolve(const Convolution& c, const float* x, const Projection<Weight>& to,
                              Output out, const auto& scratch, float* padded) noexcept {
  const std::size_t rows = c.rows(), begin = c.begin_of_whole(), end = c.end_of_whole();
  const auto convolve_rows = [&](std::size_t first, std::size_t last) TINYATTN_INLINE_LAMBDA {
    if constexpr (!all_whole)
      for (std::size_t i = first; i < last; ++i)
        convolve_row<Port>(c, i, x, to, out, scratch, padded);
  };
  convolve_rows(0, begin);
  if (begin != end)
    project<Port>(end - begin, c.width(), c.out,
                  Dense{x + (begin * c.stride - c.padding) * c.in, c.stride * c.in}, to,
                  out.from(begin, 0), scratch);
  convolve_rows(end, rows);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
