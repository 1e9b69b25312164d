// SPDX-License-Identifier: MIT
//
// Rotary positions: each pair of features of a head rotates by an angle that grows with the
// position (Su et al., "RoFormer", 2021, equation 34).
#pragma once

#include "tinyattn/kernel/tile.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Pair i of a head is its features i * step and i * step + apart.
struct Rotation {
  const float* cosines = nullptr;  // [positions, head_dim / 2]; nullptr if nothing rotates
  const float* sines = nullptr;
  std::size_t step = 1, apart = 0;
};

// The pairs (0, 1), (2, 3) ... or (0, d / 2), (1, d / 2 + 1) ... of a head with d features.
TINYATTN_ALWAYS_INLINE constexpr Rotation rotation_of(const float* cosines, const float* sines,
                                                      bool is_interleaved,
                                                      std::size_t head_dim) noexcept {
  if (is_interleaved) return {cosines, sines, 2, 1};
  return {cosines, sines, 1, head_dim / 2};
}

// Rotates a pair to (a cos - b sin, a sin + b cos), in which the product with b is rounded first.
template <class Single>
TINYATTN_ALWAYS_INLINE constexpr void rotate_pair(float& a, float& b, float cosine,
                                                  float sine) noexcept {
  const float first = a;
  a = Single::fma(first, cosine, -Single::mul(b, sine));
  b = Single::fma(first, sine, Single::mul(b, cosine));
}

// Rotates all heads of `rows` rows, of which the first is at `position`.
template <class Port>
constexpr void rotate(Rotation rotation, std::size_t rows, std::size_t heads, std::size_t head_dim,
                      std::size_t position, Output x) noexcept {
  if (is_null(rotation.cosines)) return;
  const std::size_t pairs = head_dim / 2;
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const cosines = rotation.cosines + (position + r) * pairs;
    const float* const sines = rotation.sines + (position + r) * pairs;
    for (std::size_t head = 0; head < heads; ++head) {
      float* const features = x.at(r, head * head_dim);
      for (std::size_t i = 0; i < pairs; ++i)
        rotate_pair<typename Port::one_lane>(features[i * rotation.step],
                                             features[i * rotation.step + rotation.apart],
                                             cosines[i], sines[i]);
    }
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
