// SPDX-License-Identifier: MIT
//
// The reference: one lane, constexpr, the same on every machine with a binary64 double. The
// compiler evaluates constant expressions with it, and every other port must give the same bits.
#pragma once

#include "tinyattn/port/compiler.hpp"
#include "tinyattn/port/divided.hpp"
#include "tinyattn/port/fma_in_double.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct scalar {
  using vec = float;
  using broadcast_operand = float;
  using one_lane = scalar;
  static constexpr std::size_t lanes = 1;
  static constexpr std::size_t registers = 16;
  static constexpr std::size_t tile_vectors = 3;
  static constexpr std::size_t block_rows = 4;
  static constexpr std::size_t query_rows = 4;
  static constexpr bool tiles_overlap = true, shares_code = true, interleaves_rows = false;

  TINYATTN_ALWAYS_INLINE static constexpr float load(const float* from) noexcept { return *from; }
  TINYATTN_ALWAYS_INLINE static constexpr float load_n(const float* from, std::size_t n,
                                                       float fill) noexcept {
    return n == 0 ? fill : *from;
  }
  template <std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE static constexpr void load_row(const float* from,
                                                        float (&row)[Vectors]) noexcept {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) row[v] = from[v];
  }
  template <std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE static constexpr void store_row(const float (&row)[Vectors],
                                                         float* to) noexcept {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) to[v] = row[v];
  }
  TINYATTN_ALWAYS_INLINE static constexpr void store(float* to, float v) noexcept { *to = v; }
  TINYATTN_ALWAYS_INLINE static constexpr void store_n(float* to, float v, std::size_t n) noexcept {
    if (n != 0) *to = v;
  }
  TINYATTN_ALWAYS_INLINE static constexpr float broadcast(float x) noexcept { return x; }
  TINYATTN_ALWAYS_INLINE static constexpr float splat(float x) noexcept { return x; }
  TINYATTN_ALWAYS_INLINE static constexpr float first(float v) noexcept { return v; }

  TINYATTN_ALWAYS_INLINE static constexpr float fma(float a, float b, float c) noexcept {
    return detail::fma_in_double(a, b, c);
  }

  // mul and add are fma, not a * b and a + b: a compiler could contract a product with an addition,
  // this one or the caller's.
  TINYATTN_ALWAYS_INLINE static constexpr float mul(float a, float b) noexcept {
    return fma(a, b, -0.0f);
  }
  TINYATTN_ALWAYS_INLINE static constexpr float add(float a, float b) noexcept {
    return fma(a, 1.0f, b);
  }
  TINYATTN_ALWAYS_INLINE static constexpr float divide(float a, float b) noexcept {
    return detail::divided(a, b);
  }
  TINYATTN_ALWAYS_INLINE static constexpr float maximum(float a, float b) noexcept {
    return a < b ? b : a;
  }
  TINYATTN_ALWAYS_INLINE static constexpr float select_less(float a, float b, float less,
                                                            float otherwise) noexcept {
    return a < b ? less : otherwise;
  }
  TINYATTN_ALWAYS_INLINE static constexpr float exponent_bits(float shifted) noexcept {
    return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, shifted) << 23);
  }
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
