// SPDX-License-Identifier: MIT
//
// Four lanes in the compilers' own vectors, for an instruction set that has no port yet. Operations
// that round are computed lane by lane, on the port for single floats.
#pragma once

#include "tinyattn/port/one_lane.hpp"

#if !defined(__GNUC__)
#error "the port `generic` needs vectors as in GCC and Clang: compile with one of them"
#endif

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct generic {
  using vec [[gnu::vector_size(16)]] = float;
  using broadcast_operand = vec;
  using one_lane = TINYATTN_ONE_LANE;
  static constexpr std::size_t lanes = 4;
  static constexpr std::size_t registers = 16;
  static constexpr std::size_t tile_vectors = 2;
  static constexpr std::size_t block_rows = 4;
  static constexpr std::size_t query_rows = 4;
  static constexpr bool tiles_overlap = one_lane::tiles_overlap,
                        shares_code = one_lane::shares_code,
                        interleaves_rows = one_lane::interleaves_rows;

  TINYATTN_ALWAYS_INLINE static vec load(const float* from) noexcept {
    return *reinterpret_cast<const unaligned*>(from);
  }
  TINYATTN_ALWAYS_INLINE static vec load_n(const float* from, std::size_t n, float fill) noexcept {
    return each([=](std::size_t lane)
                    TINYATTN_INLINE_LAMBDA { return lane < n ? from[lane] : fill; });
  }
  TINYATTN_ALWAYS_INLINE static void store(float* to, vec v) noexcept {
    *reinterpret_cast<unaligned*>(to) = v;
  }
  TINYATTN_ALWAYS_INLINE static void store_n(float* to, vec v, std::size_t n) noexcept {
    TINYATTN_UNROLL
    for (std::size_t lane = 0; lane < lanes; ++lane)
      if (lane < n) to[lane] = v[lane];
  }
  TINYATTN_ALWAYS_INLINE static vec broadcast(float x) noexcept { return vec{x, x, x, x}; }
  TINYATTN_ALWAYS_INLINE static vec splat(float x) noexcept { return vec{x, x, x, x}; }
  TINYATTN_ALWAYS_INLINE static float first(vec v) noexcept { return v[0]; }
  template <std::size_t By>
  TINYATTN_ALWAYS_INLINE static vec butterfly(vec v) noexcept {
    return vec{v[By], v[1 ^ By], v[2 ^ By], v[3 ^ By]};
  }

  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, vec c) noexcept {
    return each([=](std::size_t lane)
                    TINYATTN_INLINE_LAMBDA { return one_lane::fma(a[lane], b[lane], c[lane]); });
  }
  TINYATTN_ALWAYS_INLINE static vec mul(vec a, vec b) noexcept {
    return each([=](std::size_t lane)
                    TINYATTN_INLINE_LAMBDA { return one_lane::mul(a[lane], b[lane]); });
  }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, vec b) noexcept {
    return each([=](std::size_t lane)
                    TINYATTN_INLINE_LAMBDA { return one_lane::add(a[lane], b[lane]); });
  }
  TINYATTN_ALWAYS_INLINE static vec maximum(vec a, vec b) noexcept { return a < b ? b : a; }
  TINYATTN_ALWAYS_INLINE static vec select_less(vec a, vec b, vec less, vec otherwise) noexcept {
    return a < b ? less : otherwise;
  }
  TINYATTN_ALWAYS_INLINE static vec exponent_bits(vec shifted) noexcept {
    return reinterpret_cast<vec>(reinterpret_cast<words>(shifted) << 23);
  }

 private:
  using words [[gnu::vector_size(16)]] = std::uint32_t;
  using unaligned [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;

  TINYATTN_ALWAYS_INLINE static vec each(auto compute) noexcept {
    return vec{compute(0), compute(1), compute(2), compute(3)};
  }
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
