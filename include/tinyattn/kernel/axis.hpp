// SPDX-License-Identifier: MIT
//
// The axes along which the windows of a convolution or of a pool move over x.
#pragma once

#include "tinyattn/kernel/size.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The elements of a window that lie in x: `begin` to `end`, of which the first is element `at` of
// x.
struct Overlap {
  std::size_t begin, end, at;

  constexpr std::size_t count() const noexcept { return end - begin; }
};

// A window has `kernel` elements, `dilation` apart, and begins `stride` elements after the window
// before it, the first one `padding` before x. In `ceil_mode` the last one may end after the
// padding. Or `divided` windows of nearly equal length cover x.
struct Axis {
  std::size_t size;            // of x
  std::size_t step, out_step;  // from an element of x, and of the result, to the next, in floats
  std::size_t kernel, stride = 1, padding = 0, dilation = 1;
  bool ceil_mode = false;
  std::size_t divided = 0;

  constexpr std::size_t reach() const noexcept { return (kernel - 1) * dilation + 1; }
  // The number of windows; 0 if one is longer than x and its padding.
  constexpr std::size_t count() const noexcept {
    if (divided != 0) return divided;
    if (size + 2 * padding < reach()) return 0;
    const std::size_t last = size + 2 * padding - reach(), count = last / stride + 1;
    return ceil_mode && last % stride != 0 && count * stride < size + padding ? count + 1 : count;
  }
  constexpr Overlap window(std::size_t i) const noexcept {
    if (divided != 0) {
      const std::size_t at = i * size / divided;
      return {0, ((i + 1) * size + divided - 1) / divided - at, at};
    }
    const std::size_t start = i * stride, limit = padding + size;
    const std::size_t skipped = start < padding ? (padding - start + dilation - 1) / dilation : 0;
    const std::size_t begin = minimum(skipped, kernel);
    const std::size_t end = start < limit ? (limit - start - 1) / dilation + 1 : 0;
    return {begin, maximum(begin, minimum(end, kernel)), start + begin * dilation - padding};
  }
  // Windows begin to end lie in x as a whole.
  constexpr std::size_t begin_of_whole() const noexcept {
    return minimum((padding + stride - 1) / stride, count());
  }
  constexpr std::size_t end_of_whole() const noexcept {
    const std::size_t end = size + padding < reach() ? 0 : (size + padding - reach()) / stride + 1;
    return maximum(begin_of_whole(), minimum(end, count()));
  }
};

// The windows over an image; those over tokens are over an image of one row.
struct Axes {
  Axis height, width;

  // Calls visit(y, k, offset) for every element (y, k) of a window that lies in x, in rising order,
  // or for every run-th of those in a row. Its features begin `offset` floats after those of x.
  TINYATTN_KERNEL void visit(const Overlap& down, const Overlap& along, std::size_t run,
                             const auto& visit) const noexcept {
    std::size_t row = down.at * height.step + along.at * width.step;
    for (std::size_t y = down.begin; y < down.end; ++y, row += height.dilation * height.step) {
      std::size_t offset = row;
      for (std::size_t k = along.begin; k < along.end; k += run) {
        visit(y, k, offset);
        offset += run * width.dilation * width.step;
      }
    }
  }
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
