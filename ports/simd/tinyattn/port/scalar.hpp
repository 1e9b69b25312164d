// SPDX-License-Identifier: MIT
//
// The reference: one lane, constexpr, the same on every machine that has a binary64 double. The compiler
// evaluates constant expressions with it, and every other port is held to its bits.
#pragma once

#include "tinyattn/port/contract.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tinyattn::port {

struct scalar {
  using vec = float;
  using broadcasted = float;
  using one_lane = scalar;
  static constexpr std::size_t lanes = 1;
  static constexpr std::size_t registers = 16;
  static constexpr std::size_t tile_vectors = 3;
  static constexpr std::size_t block_rows = 4;
  static constexpr bool shares_code = true;

  TINYATTN_ALWAYS_INLINE static constexpr float load(const float* from) noexcept { return *from; }
  TINYATTN_ALWAYS_INLINE static constexpr float load_n(const float* from, std::size_t n) noexcept { return n == 0 ? 0.0f : *from; }
  template <std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE static constexpr void load_row(const float* from, float (&row)[Vectors]) noexcept {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) row[v] = from[v];
  }
  TINYATTN_ALWAYS_INLINE static constexpr void store(float* to, float v) noexcept { *to = v; }
  TINYATTN_ALWAYS_INLINE static constexpr void store_n(float* to, float v, std::size_t n) noexcept {
    if (n != 0) *to = v;
  }
  TINYATTN_ALWAYS_INLINE static constexpr float broadcast(float x) noexcept { return x; }
  TINYATTN_ALWAYS_INLINE static constexpr float fill(float x) noexcept { return x; }

  // The product of two floats is exact in double. Their sum with c is rounded to odd there, so that
  // rounding it once more, to float, cannot tie where a * b + c does not: Boldo and Melquiond, "Emulation of
  // FMA and correctly rounded sums", 2008. Fusing product and sum would change nothing: the product is exact.
  static constexpr float fma(float a, float b, float c) noexcept {
    const double product = static_cast<double>(a) * static_cast<double>(b);
    const double addend = static_cast<double>(c);
    const double sum = product + addend;
    if (sum == infinity || sum == -infinity) return static_cast<float>(sum);
    const double addend_in_sum = sum - product;
    const double error = (product - (sum - addend_in_sum)) + (addend - addend_in_sum);
    return static_cast<float>(rounded_to_odd(sum, error));
  }

  // Not a * b: that product could be fused with an addition of the caller.
  static constexpr float mul(float a, float b) noexcept { return fma(a, b, -0.0f); }
  TINYATTN_ALWAYS_INLINE static constexpr float add(float a, float b) noexcept { return a + b; }
  TINYATTN_ALWAYS_INLINE static constexpr float max(float a, float b) noexcept { return a < b ? b : a; }
  TINYATTN_ALWAYS_INLINE static constexpr float select_less(float a, float b, float less, float otherwise) noexcept {
    return a < b ? less : otherwise;
  }
  TINYATTN_ALWAYS_INLINE static constexpr float power_of_two(float biased) noexcept {
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(biased) << 23) + 0x3f800000u);
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  // `sum` misses the exact value by `error`: of the two doubles around that value, the odd one.
  static constexpr double rounded_to_odd(double sum, double error) noexcept {
    if (!(error < 0.0) && !(error > 0.0)) return sum;  // exact, or NaN
    const auto bits = std::bit_cast<std::uint64_t>(sum);
    if (bits % 2 == 1) return sum;
    const bool away_from_zero = (error > 0.0) == (sum > 0.0);
    return std::bit_cast<double>(away_from_zero ? bits + 1 : bits - 1);
  }
};

static_assert(contract<scalar>);

}  // namespace tinyattn::port
