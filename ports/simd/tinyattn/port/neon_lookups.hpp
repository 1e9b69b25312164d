// SPDX-License-Identifier: MIT
//
// Four integers of NEON: look-ups in small tables, shifts of each lane by its own count, and bytes
// that become integers.
#pragma once

#include "tinyattn/port/compiler.hpp"

#if defined(__ARM_NEON)

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct neon_lookups {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  using words [[gnu::vector_size(16)]] = std::int32_t;
  using unsigned_words [[gnu::vector_size(16)]] = std::uint32_t;

  TINYATTN_ALWAYS_INLINE static words load_bytes(const std::uint8_t* from, std::size_t n) noexcept {
    std::uint32_t bytes = 0;
    if (n == 4)
      __builtin_memcpy(&bytes, from, 4);
    else
      while (n != 0) bytes = bytes << 8 | from[--n];
    const uint8x8_t eight = vreinterpret_u8_u32(vdup_n_u32(bytes));
    return reinterpret_cast<words>(vmovl_u16(vget_low_u16(vmovl_u8(eight))));
  }
  TINYATTN_ALWAYS_INLINE static words shift_right(words v, words counts) noexcept {
    return reinterpret_cast<words>(
        vshlq_s32(reinterpret_cast<int32x4_t>(v), reinterpret_cast<int32x4_t>(-counts)));
  }
  TINYATTN_ALWAYS_INLINE static unsigned_words shift_right(unsigned_words v,
                                                           unsigned_words counts) noexcept {
    return reinterpret_cast<unsigned_words>(
        vshlq_u32(reinterpret_cast<uint32x4_t>(v), reinterpret_cast<int32x4_t>(-counts)));
  }
  TINYATTN_ALWAYS_INLINE static words look_up_of_8(const std::int32_t* table,
                                                   words index) noexcept {
    const uint8x16_t bytes = bytes_of(index);
    const auto* from = reinterpret_cast<const std::uint8_t*>(table);
#if defined(__aarch64__)
    return reinterpret_cast<words>(vqtbl2q_u8({{vld1q_u8(from), vld1q_u8(from + 16)}}, bytes));
#else
    const uint8x8x4_t all = {
        {vld1_u8(from), vld1_u8(from + 8), vld1_u8(from + 16), vld1_u8(from + 24)}};
    return reinterpret_cast<words>(
        vcombine_u8(vtbl4_u8(all, vget_low_u8(bytes)), vtbl4_u8(all, vget_high_u8(bytes))));
#endif
  }
  TINYATTN_ALWAYS_INLINE static words look_up_of_32(const std::uint32_t* table,
                                                    words index) noexcept {
#if defined(__aarch64__)
    const uint8x16_t bytes = bytes_of(index);
    const auto* from = reinterpret_cast<const std::uint8_t*>(table);
    const uint8x16_t low = vqtbl4q_u8(vld1q_u8_x4(from), bytes);
    return reinterpret_cast<words>(
        vqtbx4q_u8(low, vld1q_u8_x4(from + 64), vsubq_u8(bytes, vdupq_n_u8(64))));
#else
    words found;
    for (std::size_t lane = 0; lane < 4; ++lane)
      found[lane] = static_cast<std::int32_t>(table[index[lane]]);
    return found;
#endif
  }

 private:
  // The bytes of each word of a table, by its index.
  TINYATTN_ALWAYS_INLINE static uint8x16_t bytes_of(words index) noexcept {
    return reinterpret_cast<uint8x16_t>(index * 0x04040404 + 0x03020100);
  }
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE

#endif
