// SPDX-License-Identifier: MIT
//
// The backward pass of rotary positions: each pair rotates back by its angle.
#pragma once

#include "tinyattn/kernel/rotary.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Rotates each pair (a, b) of all heads of `rows` rows, of which the first is at position 0, to
// (a cos + b sin, b cos - a sin), in which the product with the sine is rounded first. `table` has
// room for head_dim floats.
template <class Port>
constexpr void rotate_backward(const auto& rotation, std::size_t rows, std::size_t heads,
                               std::size_t head_dim, Output d, float* table) noexcept {
  using Single = typename Port::one_lane;
  for (std::size_t r = 0; r < rows; ++r) {
    const Rotation at = rotation_at<Port>(rotation, r, head_dim, table);
    if (is_null(at.cosines)) return;
    for (std::size_t head = 0; head < heads; ++head)
      for (std::size_t i = 0; i < head_dim / 2; ++i) {
        float& a = *d.at(r, head * head_dim + i * at.step);
        float& b = *d.at(r, head * head_dim + i * at.step + at.apart);
        const float first = a;
        a = Single::fma(first, at.cosines[i], Single::mul(b, at.sines[i]));
        b = Single::fma(b, at.cosines[i], -Single::mul(first, at.sines[i]));
      }
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
