// SPDX-License-Identifier: MIT
//
// Rotary positions: each pair of features of a head rotates by an angle that grows with the
// position (Su et al., "RoFormer", 2021, equation 34).
#pragma once

#include "tinyattn/kernel/tile.hpp"

#include <cstdint>

TINYATTN_BEGIN

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

// --- Positions without an end ---

// From here on the error of an angle would be too large.
constexpr std::size_t most_positions = std::size_t{1} << 28;

// A pair as above, whose angle at position p is p * speed: angles are numbers of 64 bits, of which
// 2^64 would be a whole turn.
struct EndlessRotation {
  const std::uint64_t* speeds;  // [head_dim / 2]
  std::size_t step, apart;
};

TINYATTN_KERNEL EndlessRotation endless_rotation_of(const std::uint64_t* speeds,
                                                    bool is_interleaved,
                                                    std::size_t head_dim) noexcept {
  if (is_interleaved) return {speeds, 2, 1};
  return {speeds, 1, head_dim / 2};
}

struct CosineAndSine {
  float cosine, sine;
};

// Returns cosine and sine of 2 pi * angle / 2^32, each off by less than 2^-24. They are computed in
// integers, which is faster than in floats where there is no FPU: as Taylor series about the
// nearest quarter turn, of a distance x from 0 to 2^31, which is pi / 4. x^2 is in 2^-30, and the
// terms are (pi / 4)^n / n! * 2^32, four times that, and so on to the smallest.
template <class Port>
constexpr CosineAndSine cosine_and_sine_of(std::uint32_t angle) noexcept {
  const std::uint32_t quarters = (angle + (1u << 29)) >> 30, rest = angle - (quarters << 30);
  const auto times = [](std::uint32_t a, std::uint32_t b) TINYATTN_INLINE_LAMBDA {
    return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
  };
  const std::uint32_t x = (rest >> 31 != 0 ? 0u - rest : rest) << 2, square = times(x, x);
  const auto series = [=](std::uint32_t sum, auto... terms) TINYATTN_INLINE_LAMBDA {
    ((sum = terms - times(sum, square)), ...);
    return sum;
  };
  const auto cosine = static_cast<std::int32_t>(
      (1u << 30) - times(series(27060u, 987048u, 22401992u, 272375560u, 1324675879u), square));
  const auto sine_of_distance = static_cast<std::int32_t>(
      times(series(344545u, 10053990u, 171138612u, 1387197337u, 3373259426u), x) / 2);
  const std::int32_t sine = rest >> 31 != 0 ? -sine_of_distance : sine_of_distance;
  const std::int32_t turned[] = {cosine, -sine, -cosine, sine};
  const auto to_float = [](std::int32_t scaled) TINYATTN_INLINE_LAMBDA {
    return Port::one_lane::mul(static_cast<float>(scaled), 0x1p-30f);
  };
  return {to_float(turned[quarters % 4]), to_float(turned[(quarters + 3) % 4])};
}

// Returns the rotation at one position, as a table of this position alone. `table` has room for
// head_dim floats.
template <class Port>
TINYATTN_KERNEL Rotation rotation_at(Rotation rotation, std::size_t position, std::size_t head_dim,
                                     float*) noexcept {
  const std::size_t first = position * (head_dim / 2);
  if (is_null(rotation.cosines)) return rotation;
  return {rotation.cosines + first, rotation.sines + first, rotation.step, rotation.apart};
}
template <class Port>
constexpr Rotation rotation_at(EndlessRotation rotation, std::size_t position, std::size_t head_dim,
                               float* table) noexcept {
  const std::size_t pairs = head_dim / 2;
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto angle = static_cast<std::uint32_t>(position * rotation.speeds[i] >> 32);
    const CosineAndSine at = cosine_and_sine_of<Port>(angle);
    table[i] = at.cosine;
    table[pairs + i] = at.sine;
  }
  return {table, table + pairs, rotation.step, rotation.apart};
}

// Rotates as above. A pair is a head of two features here, so that its angle is computed once for
// all heads.
template <class Port>
constexpr void rotate(EndlessRotation rotation, std::size_t rows, std::size_t heads,
                      std::size_t head_dim, std::size_t position, Output x) noexcept {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < head_dim / 2; ++i) {
      float table[2];
      const EndlessRotation pair{rotation.speeds + i, 0, rotation.apart};
      const Rotation at = rotation_at<Port>(pair, position + r, 2, table);
      for (std::size_t head = 0; head < heads; ++head)
        rotate<Port>(at, 1, 1, 2, 0, x.from(r, head * head_dim + i * rotation.step));
    }
}

// --- A part of each head ---

// The first `dim` features of each head rotate, as a head of so many.
template <class Rotations>
struct PartialRotation {
  Rotations rotation;
  std::size_t dim;
};
template <class Rotations>
PartialRotation(Rotations, std::size_t) -> PartialRotation<Rotations>;
template <class Port, class Rotations>
constexpr void rotate(PartialRotation<Rotations> partial, std::size_t rows, std::size_t heads,
                      std::size_t head_dim, std::size_t position, Output x) noexcept {
  for (std::size_t head = 0; head < heads; ++head)
    rotate<Port>(partial.rotation, rows, 1, partial.dim, position, x.from(0, head * head_dim));
}
template <class Port, class Rotations>
TINYATTN_KERNEL PartialRotation<Rotation> rotation_at(PartialRotation<Rotations> partial,
                                                      std::size_t position, std::size_t,
                                                      float* table) noexcept {
  return {rotation_at<Port>(partial.rotation, position, partial.dim, table), partial.dim};
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
