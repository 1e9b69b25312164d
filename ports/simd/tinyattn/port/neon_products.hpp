// SPDX-License-Identifier: MIT
//
// Sixteen products of codes with integers, for neon_integers.hpp: of halfwords or, where there is a
// dot product of bytes, of the low and high bytes of the integers.
#pragma once

#include "tinyattn/port/compiler.hpp"

#if defined(__ARM_NEON)

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE { namespace detail {

// Sixteen terms of a packed row are two registers. Memory is read and written as bytes, which may
// be part of any object.
#if defined(__ARM_FEATURE_DOTPROD) && defined(__aarch64__)
// The low bytes of the integers are unsigned, and multiply codes. The high bytes are signed, and
// multiply codes - 128: what is missing is 2^15 times the sum of the high bytes, a constant of the
// row, which is stored after it.
struct neon_products {
  struct sum {
    uint32x4_t low;
    int32x4_t high;
  };
  static constexpr std::size_t tile_sums = 8, block_vectors = 4;  // 16 and 12 of 32 registers
  static constexpr std::size_t tile_rows = 1;                     // two take no fewer instructions

  TINYATTN_ALWAYS_INLINE static sum initial(const std::int32_t* row, std::size_t terms) noexcept {
    const uint32x4_t zero = vdupq_n_u32(0);
    const std::uint32_t missing = static_cast<std::uint32_t>(row[terms / 2]);
    return {vsetq_lane_u32(missing, zero, 0), vreinterpretq_s32_u32(zero)};
  }
  TINYATTN_ALWAYS_INLINE static void add(sum& to, uint8x16_t codes, uint8x16_t low,
                                         uint8x16_t high) noexcept {
    const int8x16_t weights = vreinterpretq_s8_u8(veorq_u8(codes, vdupq_n_u8(128)));
    to.low = vdotq_u32(to.low, codes, low);
    to.high = vdotq_s32(to.high, weights, vreinterpretq_s8_u8(high));
  }
  TINYATTN_ALWAYS_INLINE static void finish(sum& of, const std::uint8_t*& next) noexcept {
    asm("" : "+w"(of.low), "+w"(of.high), "+r"(next));
  }
  TINYATTN_ALWAYS_INLINE static uint32x4_t total(const sum& of) noexcept {
    return vmlaq_n_u32(of.low, vreinterpretq_u32_s32(of.high), 256);
  }
  TINYATTN_ALWAYS_INLINE static void add_eight(sum& to, uint8x8_t codes, uint8x16_t low,
                                               uint8x16_t high) noexcept {
    add(to, vcombine_u8(codes, vdup_n_u8(0)), low, high);
  }
  TINYATTN_ALWAYS_INLINE static void load_eight(const std::uint8_t* row, uint8x16_t& low,
                                                uint8x16_t& high) noexcept {
    low = vcombine_u8(vld1_u8(row), vdup_n_u8(0));
    high = vcombine_u8(vld1_u8(row + 8), vdup_n_u8(0));
  }
  static void pack_row(std::int32_t* q, std::size_t terms) noexcept {
    const std::uint8_t* from = reinterpret_cast<std::uint8_t*>(q);
    std::uint8_t* to = reinterpret_cast<std::uint8_t*>(q);
    int32x4_t sums = vdupq_n_s32(0);
    const auto words = [&](std::size_t at) TINYATTN_INLINE_LAMBDA {
      return vreinterpretq_u16_u8(vld1q_u8(from + at));
    };
    std::size_t left = terms;
    for (; left >= 16; left -= 16, from += 64, to += 32) {
      const uint8x16_t first = vreinterpretq_u8_u16(vuzp1q_u16(words(0), words(16)));
      const uint8x16_t second = vreinterpretq_u8_u16(vuzp1q_u16(words(32), words(48)));
      const uint8x16_t high = vuzp2q_u8(first, second);
      vst1q_u8(to, vuzp1q_u8(first, second));
      vst1q_u8(to + 16, high);
      sums = vdotq_s32(sums, vreinterpretq_s8_u8(high), vdupq_n_s8(1));
    }
    if (left != 0) {
      const uint8x16_t eight = vreinterpretq_u8_u16(vuzp1q_u16(words(0), words(16)));
      const uint8x8_t high = vget_low_u8(vuzp2q_u8(eight, eight));
      vst1_u8(to, vget_low_u8(vuzp1q_u8(eight, eight)));
      vst1_u8(to + 8, high);
      sums = vdotq_s32(sums, vreinterpretq_s8_u8(vcombine_u8(high, vdup_n_u8(0))), vdupq_n_s8(1));
    }
    const std::uint32_t sum = static_cast<std::uint32_t>(vaddvq_s32(sums));
    q[terms / 2] = static_cast<std::int32_t>(sum << 15);
  }
  // Packs sixteen integers at a time, and then writes what is missing.
  class packer {
   public:
    TINYATTN_ALWAYS_INLINE explicit packer(std::int32_t* to) noexcept
        : to_(reinterpret_cast<std::uint8_t*>(to)) {}
    // If there are only eight, the others are zeros, which are not stored.
    TINYATTN_ALWAYS_INLINE void add(const int32x4_t (&four)[4], bool are_eight) noexcept {
      const uint8x16_t first = low_halves(four[0], four[1]), second = low_halves(four[2], four[3]);
      const uint8x16_t low = vuzp1q_u8(first, second), high = vuzp2q_u8(first, second);
      if (are_eight) {
        vst1_u8(to_, vget_low_u8(low));
        vst1_u8(to_ + 8, vget_low_u8(high));
      } else {
        vst1q_u8(to_, low);
        vst1q_u8(to_ + 16, high);
        to_ += 32;
      }
      sums_ = vdotq_s32(sums_, vreinterpretq_s8_u8(high), vdupq_n_s8(1));
    }
    TINYATTN_ALWAYS_INLINE void finish(std::int32_t* missing) noexcept {
      *missing = static_cast<std::int32_t>(static_cast<std::uint32_t>(vaddvq_s32(sums_)) << 15);
    }

   private:
    TINYATTN_ALWAYS_INLINE static uint8x16_t low_halves(int32x4_t a, int32x4_t b) noexcept {
      return vreinterpretq_u8_s16(vuzp1q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b)));
    }
    std::uint8_t* to_;
    int32x4_t sums_ = vdupq_n_s32(0);
  };
};
#else
struct neon_products {
  using sum = int32x4_t;
#if defined(__aarch64__)
  static constexpr std::size_t tile_sums = 16, block_vectors = 4;  // 16 and 12 of 32 registers
  static constexpr std::size_t tile_rows = 2;                      // share the widened codes
#else
  static constexpr std::size_t tile_sums = 8, block_vectors = 2;  // 8 and 6 of 16 registers
  static constexpr std::size_t tile_rows = 1;                     // two gain 3 %
#endif

  TINYATTN_ALWAYS_INLINE static sum initial(const std::int32_t*, std::size_t) noexcept {
    return vdupq_n_s32(0);
  }
  TINYATTN_ALWAYS_INLINE static void add(sum& to, uint8x16_t codes, uint8x16_t first,
                                         uint8x16_t second) noexcept {
#if defined(__aarch64__)
    const int16x8_t low = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(codes)));
    const int16x8_t high = vreinterpretq_s16_u16(vmovl_high_u8(codes));
    const int16x8_t by_low = vreinterpretq_s16_u8(first), by_high = vreinterpretq_s16_u8(second);
    to = vmlal_s16(to, vget_low_s16(low), vget_low_s16(by_low));
    to = vmlal_high_s16(to, low, by_low);
    to = vmlal_s16(to, vget_low_s16(high), vget_low_s16(by_high));
    to = vmlal_high_s16(to, high, by_high);
#else
    add(to, vget_low_u8(codes), vreinterpretq_s16_u8(first));
    add(to, vget_high_u8(codes), vreinterpretq_s16_u8(second));
#endif
  }
  TINYATTN_ALWAYS_INLINE static void finish(sum& of, const std::uint8_t*& next) noexcept {
    asm("" : "+w"(of), "+r"(next));
  }
  TINYATTN_ALWAYS_INLINE static uint32x4_t total(const sum& of) noexcept {
    return vreinterpretq_u32_s32(of);
  }
  TINYATTN_ALWAYS_INLINE static void add_eight(sum& to, uint8x8_t codes, uint8x16_t first,
                                               uint8x16_t) noexcept {
    const int16x8_t wide = vreinterpretq_s16_u16(vmovl_u8(codes));
    const int16x8_t by = vreinterpretq_s16_u8(first);
    to = vmlal_s16(to, vget_low_s16(wide), vget_low_s16(by));
    to = vmlal_s16(to, vget_high_s16(wide), vget_high_s16(by));
  }
  TINYATTN_ALWAYS_INLINE static void load_eight(const std::uint8_t* row, uint8x16_t& first,
                                                uint8x16_t& second) noexcept {
    first = vld1q_u8(row);
    second = vdupq_n_u8(0);
  }
  static void pack_row(std::int32_t* q, std::size_t terms) noexcept {
    const std::uint8_t* from = reinterpret_cast<std::uint8_t*>(q);
    std::uint8_t* to = reinterpret_cast<std::uint8_t*>(q);
    for (; terms != 0; terms -= 8, from += 32, to += 16) {
      const int16x4_t low = vmovn_s32(vreinterpretq_s32_u8(vld1q_u8(from)));
      const int16x4_t high = vmovn_s32(vreinterpretq_s32_u8(vld1q_u8(from + 16)));
      vst1q_u8(to, vreinterpretq_u8_s16(vcombine_s16(low, high)));
    }
  }

#if defined(__aarch64__)
  class packer {
   public:
    TINYATTN_ALWAYS_INLINE explicit packer(std::int32_t* to) noexcept
        : to_(reinterpret_cast<std::uint8_t*>(to)) {}
    TINYATTN_ALWAYS_INLINE void add(const int32x4_t (&four)[4], bool are_eight) noexcept {
      vst1q_u8(to_, low_halves(four[0], four[1]));
      if (!are_eight) vst1q_u8(to_ + 16, low_halves(four[2], four[3]));
      to_ += 32;
    }
    TINYATTN_ALWAYS_INLINE void finish(std::int32_t*) noexcept {}

   private:
    TINYATTN_ALWAYS_INLINE static uint8x16_t low_halves(int32x4_t a, int32x4_t b) noexcept {
      return vreinterpretq_u8_s16(vuzp1q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b)));
    }
    std::uint8_t* to_;
  };
#else
 private:
  TINYATTN_ALWAYS_INLINE static void add(sum& to, uint8x8_t codes, int16x8_t by) noexcept {
    const int16x8_t wide = vreinterpretq_s16_u16(vmovl_u8(codes));
    to = vmlal_s16(to, vget_low_s16(wide), vget_low_s16(by));
    to = vmlal_s16(to, vget_high_s16(wide), vget_high_s16(by));
  }
#endif
};
#endif

}}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE::detail

#endif
