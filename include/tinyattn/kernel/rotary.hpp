// SPDX-License-Identifier: MIT
//
// Rotary positions: each pair of features of a head rotates by an angle that grows with the
// position (Su et al., "RoFormer", 2021, equation 34).
#pragma once

#include "tinyattn/kernel/tile.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Pair i of a head is its features i * step and i * step + apart.
struct Rotation {
  const float* cosines = nullptr;  // [positions, head_dim / 2]; nullptr if nothing rotates
  const float* sines = nullptr;
  std::size_t step = 1, apart = 0;
};

// The pairs (0, 1), (2, 3) ... or (0, d / 2), (1, d / 2 + 1) ... of a head with d features.
TINYATTN_KERNEL Rotation rotation_of(const float* cosines, const float* sines, bool is_interleaved,
                                     std::size_t head_dim) noexcept {
  if (is_interleaved) return {cosines, sines, 2, 1};
  return {cosines, sines, 1, head_dim / 2};
}

// Rotates each pair (a, b) of all heads of `rows` rows, of which the first is at `position`, to
// (a cos - b sin, a sin + b cos), in which the product with b is rounded first.
template <class Port>
constexpr void rotate(Rotation rotation, std::size_t rows, std::size_t heads, std::size_t head_dim,
                      std::size_t position, Output x) noexcept {
  using Single = typename Port::one_lane;
  if (is_null(rotation.cosines)) return;
  const std::size_t pairs = head_dim / 2;
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const cosines = rotation.cosines + (position + r) * pairs;
    const float* const sines = rotation.sines + (position + r) * pairs;
    for (std::size_t head = 0; head < heads; ++head) {
      float* const features = x.at(r, head * head_dim);
      for (std::size_t i = 0; i < pairs; ++i) {
        float& a = features[i * rotation.step];
        float& b = features[i * rotation.step + rotation.apart];
        const float first = a;
        a = Single::fma(first, cosines[i], -Single::mul(b, sines[i]));
        b = Single::fma(first, sines[i], Single::mul(b, cosines[i]));
      }
    }
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
