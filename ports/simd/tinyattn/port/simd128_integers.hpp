// SPDX-License-Identifier: MIT
//
// Sums of products of integers in WebAssembly's vectors.
#pragma once

#include "tinyattn/port/paired_integers.hpp"

#if defined(__wasm_simd128__)

#include <wasm_simd128.h>

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

namespace detail {

struct simd128_pairs {
  using vec = v128_t;
  static constexpr std::size_t tile_sums = 8;
  static constexpr std::size_t block_vectors = 0;
  static constexpr bool has_panels = false;
  TINYATTN_ALWAYS_INLINE static vec load(const void* from) noexcept { return wasm_v128_load(from); }
  TINYATTN_ALWAYS_INLINE static vec load_n(const void* from, std::size_t) noexcept {
    return wasm_v128_load64_zero(from);
  }
  TINYATTN_ALWAYS_INLINE static void store(void* to, vec v) noexcept { wasm_v128_store(to, v); }
  TINYATTN_ALWAYS_INLINE static void store_n(void* to, vec v, std::size_t) noexcept {
    wasm_v128_store64_lane(to, v, 0);
  }
  TINYATTN_ALWAYS_INLINE static vec load_codes(const void* from) noexcept { return load(from); }
  TINYATTN_ALWAYS_INLINE static vec narrow(vec a, vec b) noexcept {
    return wasm_i16x8_narrow_i32x4(a, b);
  }
  TINYATTN_ALWAYS_INLINE static vec multiply(vec a, vec b) noexcept {
    return wasm_i32x4_dot_i16x8(a, b);
  }
  TINYATTN_ALWAYS_INLINE static vec multiply_add(vec sums, vec a, vec b) noexcept {
    return wasm_i32x4_add(sums, multiply(a, b));
  }
  TINYATTN_ALWAYS_INLINE static void add_lanes(const vec (&sums)[8], std::uint32_t* to) noexcept {
    store(to, add_fours(sums[0], sums[1], sums[2], sums[3]));
    store(to + 4, add_fours(sums[4], sums[5], sums[6], sums[7]));
  }

 private:
  TINYATTN_ALWAYS_INLINE static vec add_fours(vec a, vec b, vec c, vec d) noexcept {
    const vec ab = add_halves(a, b), cd = add_halves(c, d);
    return wasm_i32x4_add(wasm_i32x4_shuffle(ab, cd, 0, 1, 4, 5),
                          wasm_i32x4_shuffle(ab, cd, 2, 3, 6, 7));
  }
  // The words a[0] + a[2], b[0] + b[2], a[1] + a[3] and b[1] + b[3].
  TINYATTN_ALWAYS_INLINE static vec add_halves(vec a, vec b) noexcept {
    return wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 4, 1, 5),
                          wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
  }
};

}  // namespace detail

using simd128_integers = paired_integers<detail::simd128_pairs>;

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE

#endif
