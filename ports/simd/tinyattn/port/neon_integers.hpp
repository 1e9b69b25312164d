// SPDX-License-Identifier: MIT
//
// Sums of products of integers with codes for `neon`. A block of terms of a row stays in registers
// while columns pass; each load of codes increments its address to the next column.
#pragma once

#include "tinyattn/port/neon_products.hpp"

#if defined(__ARM_NEON)

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct neon_integers {
  static constexpr std::size_t integer_rows = detail::neon_products::tile_rows;

  static void pack_row(std::int32_t* q, std::size_t terms) noexcept {
    detail::neon_products::pack_row(q, terms);
  }

#if defined(__aarch64__)
  template <class Port>
  static std::uint32_t quantize(const float* x, std::size_t count, std::size_t terms, unsigned bits,
                                std::int32_t* q, std::uint32_t& sum) noexcept {
    const auto load_before = [x, count](std::size_t k) TINYATTN_INLINE_LAMBDA {
      if (k >= count) return vdupq_n_f32(0.0f);
      return Port::load_n(x + k, count - k < 4 ? count - k : 4, 0.0f);
    };
    // Calls step(load, are_eight) for each sixteen floats; the last may be eight, or have zeros.
    const auto for_each_sixteen = [&](const auto& step) TINYATTN_INLINE_LAMBDA {
      std::size_t k = 0;
      for (std::size_t left = count / 16; left != 0; --left, k += 16)
        step([from = x + k](std::size_t i)
                 TINYATTN_INLINE_LAMBDA { return Port::load(from + 4 * i); },
             false);
      if (k < terms)
        step([&, k](std::size_t i) TINYATTN_INLINE_LAMBDA { return load_before(k + 4 * i); },
             terms - k == 8);
    };
    uint32x4_t most = vdupq_n_u32(0);
    for_each_sixteen([&](const auto& load, bool) TINYATTN_INLINE_LAMBDA {
      TINYATTN_UNROLL
      for (std::size_t i = 0; i < 4; ++i)
        most = vmaxq_u32(most, vreinterpretq_u32_f32(vabsq_f32(load(i))));
    });
    const std::uint32_t magnitude = vmaxvq_u32(most);
    const std::uint32_t exponent = (magnitude + (1u << (23 - bits))) >> 23;
    const float factor = __builtin_bit_cast(float, (253 + bits - exponent) << 23);
    int32x4_t sums = vdupq_n_s32(0);
    products::packer packed(q);
    for_each_sixteen([&](const auto& load, bool are_eight) TINYATTN_INLINE_LAMBDA {
      int32x4_t four[4];
      TINYATTN_UNROLL
      for (std::size_t i = 0; i < 4; ++i) {
        four[i] = vcvtnq_s32_f32(vmulq_n_f32(load(i), factor));
        sums = vaddq_s32(sums, four[i]);
      }
      packed.add(four, are_eight);
    });
    packed.finish(q + terms / 2);
    sum = static_cast<std::uint32_t>(vaddvq_s32(sums));
    return magnitude;
  }
#endif

  template <std::size_t Rows>
  static void integer_dots(const std::int32_t* q, std::size_t q_stride, const std::uint8_t* codes,
                           std::size_t stride, std::size_t terms, std::size_t cols,
                           std::uint32_t* sums) noexcept {
    integer_tiles<Rows, products::tile_sums / Rows>(q, q_stride, codes, stride, terms, cols, sums);
  }

 private:
  using products = detail::neon_products;

  // Tiles of `Cols` columns, the last of which overlaps its neighbour, or else narrower ones.
  template <std::size_t Rows, std::size_t Cols>
  TINYATTN_ALWAYS_INLINE static void integer_tiles(const std::int32_t* q, std::size_t q_stride,
                                                   const std::uint8_t* codes, std::size_t stride,
                                                   std::size_t terms, std::size_t cols,
                                                   std::uint32_t* sums) noexcept {
    if constexpr (Cols > 1) {
      constexpr std::size_t narrower = Cols > 4 ? 4 : 1;
      if (cols < Cols)
        return integer_tiles<Rows, narrower>(q, q_stride, codes, stride, terms, cols, sums);
    }
    for (std::size_t left = cols;;) {
      integer_tile<Rows, Cols>(q, q_stride, codes, stride, terms, cols, sums);
      left -= Cols;
      if (left == 0) return;
      const std::size_t step = left < Cols ? left : Cols;
      left += Cols - step;
      codes += step * stride;
      sums += step;
    }
  }

  template <std::size_t Rows, std::size_t Cols>
  TINYATTN_ALWAYS_INLINE static void integer_tile(const std::int32_t* q, std::size_t q_stride,
                                                  const std::uint8_t* codes, std::size_t stride,
                                                  std::size_t terms, std::size_t cols,
                                                  std::uint32_t* sums) noexcept {
    products::sum all[Rows][Cols];
    const std::uint8_t* rows[Rows];
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const std::int32_t* const row = q + r * q_stride;
      rows[r] = reinterpret_cast<const std::uint8_t*>(row);
      TINYATTN_UNROLL
      for (std::size_t c = 0; c < Cols; ++c) all[r][c] = products::initial(row, terms);
    }
    constexpr std::size_t vectors = products::block_vectors / Rows, block = vectors * 16;
    for (std::size_t blocks = terms / block; blocks != 0; --blocks)
      add_block<vectors>(rows, codes, stride, all);
    if (const std::size_t rest = terms % block; rest != 0) {
      if constexpr (vectors > 1)
        for (std::size_t blocks = rest / 16; blocks != 0; --blocks)
          add_block<1>(rows, codes, stride, all);
      if (rest % 16 != 0) add_eight(rows, codes, stride, all);
    }
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) write_sums(all[r], sums + r * cols);
  }

  TINYATTN_ALWAYS_INLINE static void write_sums(const products::sum (&all)[1],
                                                std::uint32_t* to) noexcept {
    const uint32x4_t total = products::total(all[0]);
    const uint32x2_t two = vadd_u32(vget_low_u32(total), vget_high_u32(total));
    *to = vget_lane_u32(vpadd_u32(two, two), 0);
  }
  template <std::size_t Cols>
  TINYATTN_ALWAYS_INLINE static void write_sums(const products::sum (&all)[Cols],
                                                std::uint32_t* to) noexcept {
    TINYATTN_UNROLL
    for (std::size_t c = 0; c < Cols; c += 4)
      vst1q_u32(to + c, add_fours(products::total(all[c]), products::total(all[c + 1]),
                                  products::total(all[c + 2]), products::total(all[c + 3])));
  }

  template <std::size_t Vectors, std::size_t Rows, std::size_t Cols>
  TINYATTN_ALWAYS_INLINE static void add_block(const std::uint8_t* (&rows)[Rows],
                                               const std::uint8_t*& codes, std::size_t stride,
                                               products::sum (&all)[Rows][Cols]) noexcept {
    uint8x16_t by[Rows][2 * Vectors];
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      load_row(rows[r], by[r]);
      rows[r] += Vectors * 32;
    }
    const std::uint8_t* column = codes;
    TINYATTN_UNROLL
    for (std::size_t c = 0; c < Cols; ++c) {
      uint8x16_t some[Vectors];
      load_codes(column, stride, some);
      TINYATTN_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        TINYATTN_UNROLL
        for (std::size_t v = 0; v < Vectors; ++v)
          products::add(all[r][c], some[v], by[r][2 * v], by[r][2 * v + 1]);
        products::finish(all[r][c], column);
      }
    }
    codes += Vectors * 16;
  }

  template <std::size_t Rows, std::size_t Cols>
  TINYATTN_ALWAYS_INLINE static void add_eight(const std::uint8_t* (&rows)[Rows],
                                               const std::uint8_t* codes, std::size_t stride,
                                               products::sum (&all)[Rows][Cols]) noexcept {
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      uint8x16_t first, second;
      products::load_eight(rows[r], first, second);
      TINYATTN_UNROLL
      for (std::size_t c = 0; c < Cols; ++c)
        products::add_eight(all[r][c], vld1_u8(codes + c * stride), first, second);
    }
  }

  template <std::size_t Count>
  TINYATTN_ALWAYS_INLINE static void load_row(const std::uint8_t* from,
                                              uint8x16_t (&to)[Count]) noexcept {
    TINYATTN_UNROLL
    for (std::size_t i = 0; i < Count; ++i) to[i] = vld1q_u8(from + 16 * i);
  }

  // Loads the codes of a column, and increments the address to the next column: an addressing mode
  // for which there is no intrinsic.
  TINYATTN_ALWAYS_INLINE static void load_codes(const std::uint8_t*& from, std::size_t stride,
                                                uint8x16_t (&to)[1]) noexcept {
#if defined(__aarch64__)
    asm("ld1 {%0.16b}, [%1], %2" : "=w"(to[0]), "+r"(from) : "r"(stride) : "memory");
#else
    asm("vld1.8 {%e0, %f0}, [%1], %2" : "=w"(to[0]), "+r"(from) : "r"(stride) : "memory");
#endif
  }
  TINYATTN_ALWAYS_INLINE static void load_codes(const std::uint8_t*& from, std::size_t stride,
                                                uint8x16_t (&to)[2]) noexcept {
#if defined(__aarch64__)
    register uint8x16_t first asm("v0");  // ld1 loads consecutive registers
    register uint8x16_t second asm("v1");
    asm("ld1 {v0.16b - v1.16b}, [%2], %3"
        : "=w"(first), "=w"(second), "+r"(from)
        : "r"(stride)
        : "memory");
#else
    register uint8x16_t first asm("q8");  // vld1 loads consecutive registers
    register uint8x16_t second asm("q9");
    asm("vld1.8 {d16-d19}, [%2], %3"
        : "=w"(first), "=w"(second), "+r"(from)
        : "r"(stride)
        : "memory");
#endif
    to[0] = first;
    to[1] = second;
  }
#if defined(__aarch64__)
  TINYATTN_ALWAYS_INLINE static void load_codes(const std::uint8_t*& from, std::size_t stride,
                                                uint8x16_t (&to)[4]) noexcept {
    register uint8x16_t a asm("v0");
    register uint8x16_t b asm("v1");
    register uint8x16_t c asm("v2");
    register uint8x16_t d asm("v3");
    asm("ld1 {v0.16b - v3.16b}, [%4], %5"
        : "=w"(a), "=w"(b), "=w"(c), "=w"(d), "+r"(from)
        : "r"(stride)
        : "memory");
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
  }
#endif

  TINYATTN_ALWAYS_INLINE static uint32x4_t add_fours(uint32x4_t a, uint32x4_t b, uint32x4_t c,
                                                     uint32x4_t d) noexcept {
#if defined(__aarch64__)
    return vpaddq_u32(vpaddq_u32(a, b), vpaddq_u32(c, d));
#else
    const auto halves = [](uint32x4_t v) { return vadd_u32(vget_low_u32(v), vget_high_u32(v)); };
    return vcombine_u32(vpadd_u32(halves(a), halves(b)), vpadd_u32(halves(c), halves(d)));
#endif
  }
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE

TINYATTN_END

#endif
