// SPDX-License-Identifier: MIT
//
// Units in the last place (ulp): the spacing of the floats where an exact value lies.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tinyattn::test {

// One over the spacing of the floats at x, 2^-149 <= spacing <= 2^104.
inline double ulps_per_unit(double x) {
  const int exponent = static_cast<int>(__builtin_bit_cast(std::uint64_t, x) >> 52 & 0x7ff) - 1023;
  const int spacing = std::clamp(exponent, -126, 127) - 23;
  return __builtin_bit_cast(double, static_cast<std::uint64_t>(1023 - spacing) << 52);
}

}  // namespace tinyattn::test
