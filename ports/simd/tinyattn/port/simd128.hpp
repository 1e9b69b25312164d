// SPDX-License-Identifier: MIT
//
// WebAssembly's SIMD: four lanes. It has no fused multiply-add, so that fma is computed in double,
// two lanes to a register.
#pragma once

#include "tinyattn/port/compiler.hpp"

#if !defined(__wasm_simd128__)
#error "the port `simd128` needs WebAssembly's SIMD: compile with -msimd128"
#else

#include "tinyattn/port/rounded.hpp"
#include "tinyattn/port/scalar.hpp"
#include "tinyattn/port/simd128_integers.hpp"

#include <wasm_simd128.h>

#include <cstddef>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct simd128 : simd128_integers {
  using vec [[gnu::vector_size(16)]] = float;
  using pair [[gnu::vector_size(16)]] = double;
  struct broadcast_operand {
    vec single;
    pair both;
  };
  using one_lane = scalar;
  static constexpr std::size_t lanes = 4;
  static constexpr std::size_t registers = 12;  // of a processor's 16: an fma holds four more
  static constexpr std::size_t tile_vectors = 2;
  static constexpr std::size_t block_rows = 4;
  static constexpr std::size_t query_rows = 4;
  // An fma is some thirty instructions: code for each shape would be large and gain little.
  static constexpr bool tiles_overlap = true, shares_code = true, interleaves_rows = false;

  TINYATTN_ALWAYS_INLINE static vec load(const float* from) noexcept {
    return floats(wasm_v128_load(from));
  }
  TINYATTN_ALWAYS_INLINE static vec load_n(const float* from, std::size_t n, float fill) noexcept {
    if (n == lanes) return load(from);
    v128_t v = bits(splat(fill));
    if (n == 1) v = wasm_v128_load32_lane(from, v, 0);
    if (n >= 2) v = wasm_v128_load64_lane(from, v, 0);
    if (n == 3) v = wasm_v128_load32_lane(from + 2, v, 2);
    return floats(v);
  }
  TINYATTN_ALWAYS_INLINE static void store(float* to, vec v) noexcept {
    wasm_v128_store(to, bits(v));
  }
  TINYATTN_ALWAYS_INLINE static void store_n(float* to, vec v, std::size_t n) noexcept {
    if (n == lanes) return store(to, v);
    if (n == 1) wasm_v128_store32_lane(to, bits(v), 0);
    if (n >= 2) wasm_v128_store64_lane(to, bits(v), 0);
    if (n == 3) wasm_v128_store32_lane(to + 2, bits(v), 2);
  }
  TINYATTN_ALWAYS_INLINE static broadcast_operand broadcast(float x) noexcept {
    const double twice = static_cast<double>(x);
    return {splat(x), {twice, twice}};
  }
  // The barrier is for Clang 14, which moves a load to be broadcast past a store.
  TINYATTN_ALWAYS_INLINE static vec splat(float x) noexcept {
    x = detail::rounded(x);
    return vec{x, x, x, x};
  }
  TINYATTN_ALWAYS_INLINE static float first(vec v) noexcept { return v[0]; }
  template <int By>
  TINYATTN_ALWAYS_INLINE static vec butterfly(vec v) noexcept {
    return __builtin_shufflevector(v, v, By, 1 ^ By, 2 ^ By, 3 ^ By);
  }
  TINYATTN_ALWAYS_INLINE static void interleave(vec a, vec b, vec& low, vec& high) noexcept {
    low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  }

  TINYATTN_ALWAYS_INLINE static vec fma(broadcast_operand a, vec b, vec c) noexcept {
    return fma(a.both, a.both, b, c);
  }
  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, broadcast_operand c) noexcept {
    return fma(a, b, c.single);
  }
  TINYATTN_ALWAYS_INLINE static vec fma(vec a, vec b, vec c) noexcept {
    return fma(low(a), high(a), b, c);
  }
  TINYATTN_ALWAYS_INLINE static vec mul(vec a, vec b) noexcept { return rounded(a * b); }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, vec b) noexcept { return rounded(a) + rounded(b); }
  TINYATTN_ALWAYS_INLINE static vec mul(vec a, broadcast_operand b) noexcept {
    return mul(a, b.single);
  }
  TINYATTN_ALWAYS_INLINE static vec add(vec a, broadcast_operand b) noexcept {
    return add(a, b.single);
  }
  // An asm statement: divided.hpp says why.
  TINYATTN_ALWAYS_INLINE static vec divide(vec a, vec b) noexcept {
    vec quotient;
    asm("local.get %1\n\tlocal.get %2\n\tf32x4.div\n\tlocal.set %0"
        : "=r"(quotient)
        : "r"(a), "r"(b));
    return quotient;
  }
  TINYATTN_ALWAYS_INLINE static vec square_root(vec v) noexcept {
    vec root;
    asm("local.get %1\n\tf32x4.sqrt\n\tlocal.set %0" : "=r"(root) : "r"(v));
    return root;
  }
  TINYATTN_ALWAYS_INLINE static vec maximum(vec a, vec b) noexcept {
    return floats(wasm_f32x4_pmax(bits(b), bits(a)));
  }
  TINYATTN_ALWAYS_INLINE static vec select_less(vec a, vec b, vec less, vec otherwise) noexcept {
    return floats(
        wasm_v128_bitselect(bits(less), bits(otherwise), wasm_f32x4_lt(bits(a), bits(b))));
  }
  TINYATTN_ALWAYS_INLINE static vec exponent_bits(vec shifted) noexcept {
    return floats(wasm_i32x4_shl(bits(shifted), 23));
  }

 private:
  TINYATTN_ALWAYS_INLINE static vec floats(v128_t v) noexcept { return reinterpret_cast<vec>(v); }
  TINYATTN_ALWAYS_INLINE static v128_t bits(vec v) noexcept { return reinterpret_cast<v128_t>(v); }
  TINYATTN_ALWAYS_INLINE static v128_t bits(pair v) noexcept { return reinterpret_cast<v128_t>(v); }

  TINYATTN_ALWAYS_INLINE static pair low(vec v) noexcept {
    return reinterpret_cast<pair>(wasm_f64x2_promote_low_f32x4(bits(v)));
  }
  TINYATTN_ALWAYS_INLINE static pair high(vec v) noexcept {
    return low(rounded(__builtin_shufflevector(v, v, 2, 3, 2, 3)));
  }
  TINYATTN_ALWAYS_INLINE static vec joined(pair low_half, pair high_half) noexcept {
    return __builtin_shufflevector(rounded(floats(wasm_f32x4_demote_f64x2_zero(bits(low_half)))),
                                   rounded(floats(wasm_f32x4_demote_f64x2_zero(bits(high_half)))),
                                   0, 1, 4, 5);
  }

  // As in fma_in_double.hpp: products are exact in double, and a sum whose low 28 bits are not all
  // zero may be rounded again.
  TINYATTN_ALWAYS_INLINE static vec fma(pair low_a, pair high_a, vec b, vec c) noexcept {
    const pair low_product = low_a * low(b), high_product = high_a * high(b);
    const pair low_sum = low_product + low(c), high_sum = high_product + high(c);
    const v128_t low_words = wasm_i32x4_shuffle(bits(low_sum), bits(high_sum), 0, 2, 4, 6);
    if (wasm_i32x4_all_true(wasm_i32x4_shl(low_words, 4))) [[likely]]  // faster than a mask
      return joined(low_sum, high_sum);
    return add_to_odd(low_product, high_product, c);
  }

  // Not inlined, since every fma contains a call of it.
  [[gnu::noinline, gnu::cold]] static vec add_to_odd(pair low_product, pair high_product,
                                                     vec c) noexcept {
    return joined(add_to_odd(low_product, low(c)), add_to_odd(high_product, high(c)));
  }

  TINYATTN_ALWAYS_INLINE static v128_t low_bits_are_zero(v128_t words) noexcept {
    return wasm_i32x4_eq(wasm_v128_and(words, wasm_i32x4_splat(0x0fffffff)), wasm_i32x4_splat(0));
  }

  // Returns the sum, rounded to odd where its low bits are zero. Where the sum is infinite, the
  // error is NaN, and so neither positive nor negative.
  TINYATTN_ALWAYS_INLINE static pair add_to_odd(pair product, pair addend) noexcept {
    const v128_t zero = wasm_f64x2_splat(0.0);
    const pair sum = product + addend;
    const pair addend_in_sum = sum - product;
    const pair error = (product - (sum - addend_in_sum)) + (addend - addend_in_sum);
    const v128_t positive = wasm_f64x2_gt(bits(error), zero);
    const v128_t negative = wasm_f64x2_lt(bits(error), zero);
    const v128_t towards_zero = wasm_v128_xor(positive, wasm_f64x2_gt(bits(sum), zero));
    const v128_t neighbour = wasm_v128_or(towards_zero, wasm_i64x2_splat(1));
    const v128_t inexact = wasm_v128_or(positive, negative);
    const v128_t zeros = low_bits_are_zero(bits(sum));
    const v128_t on_a_tie = wasm_i32x4_shuffle(zeros, zeros, 0, 0, 2, 2);
    const v128_t step = wasm_v128_and(neighbour, wasm_v128_and(inexact, on_a_tie));
    return reinterpret_cast<pair>(wasm_i64x2_add(bits(sum), step));
  }

  // A barrier, as in rounded.hpp. `high` and `joined` have one too: otherwise Clang splits them
  // into single lanes.
  TINYATTN_ALWAYS_INLINE static vec rounded(vec v) noexcept {
    asm("local.get %1\n\tlocal.set %0" : "=r"(v) : "r"(v));
    return v;
  }
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE

#endif
