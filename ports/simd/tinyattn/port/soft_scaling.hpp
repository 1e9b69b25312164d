// SPDX-License-Identifier: MIT
//
// Conversions between integers and floats on a core without an FPU, before and after the sums of
// products with int8 weights.
//
// A sum, rounded to 24 bits, times the mantissa of a scale has up to 49 bits. It is not normalized;
// the bias's mantissa is shifted left to the same unit, and both are added in 64 bits, exactly.
// Only the result is normalized, and rounded. Operands for which 64 bits do not suffice, or that
// are not normal numbers, go to fma_in_integers.
#pragma once

#include "tinyattn/port/fma_in_integers.hpp"
#include "tinyattn/port/magnitudes.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct soft_scaling : magnitudes {
  // The maximum of the bits of |x[k]|.
#if !defined(__ARM_ARCH_PROFILE) || __ARM_ARCH_PROFILE != 'M'
  static std::uint32_t magnitude_bits(const float* x, std::size_t count) noexcept {
    std::uint32_t most = 0;
    for (const float* const end = x + count; x != end; ++x) {
      const std::uint32_t twice = __builtin_bit_cast(std::uint32_t, *x) << 1;
      if (twice > most) most = twice;
    }
    return most >> 1;
  }
#elif __ARM_ARCH_ISA_THUMB == 1 || defined(__OPTIMIZE_SIZE__)
  [[gnu::naked, gnu::noinline]] static std::uint32_t magnitude_bits(const float*,
                                                                    std::size_t) noexcept {
    // clang-format off
    asm volatile(
        ".syntax unified\n lsls r1, r1, #2\n adds r1, r1, r0\n movs r3, #0\n b 2f\n"
#if __ARM_ARCH_ISA_THUMB == 1
        "3: mov r3, r2\n b 2f\n 1: ldmia r0!, {r2}\n lsls r2, r2, #1\n cmp r2, r3\n bhi 3b\n"
#else
        "1: ldr r2, [r0], #4\n cmp r3, r2, lsl #1\n it lo\n lsllo r3, r2, #1\n"
#endif
        "2: cmp r0, r1\n bne 1b\n lsrs r0, r3, #1\n bx lr\n");
    // clang-format on
  }
#endif

  // q[k] = x[k] * 2^(126 + bits - exponent), rounded half to even; returns the sum of q. `exponent`
  // is above the exponent of every x[k], or equal if rounding does not carry over.
  // clang-format off
#if !defined(__ARM_ARCH_PROFILE) || __ARM_ARCH_PROFILE != 'M'
  static std::uint32_t round_row(const float* x, std::size_t count, std::uint32_t exponent,
                                 std::uint32_t bits, std::int32_t* q) noexcept {
    const std::uint32_t most = exponent + 32 - bits;
    std::uint32_t sum = 0;
    for (const float* const end = x + count; x != end; ++x) {
      const auto from = __builtin_bit_cast(std::uint32_t, *x);
      const std::uint32_t places = most - (from << 1 >> 24);  // more than 8
      std::uint32_t integer = 0;
      if (places < 32) {
        const std::uint32_t mantissa = (from << 8) | detail::sign_bit;
        integer = mantissa >> places;
        // above 2^31 if it is rounded up: the last bit decides ties
        const std::uint32_t rest = (mantissa << (32 - places)) | (integer & 1u);
        if (rest > detail::sign_bit) ++integer;
        if (static_cast<std::int32_t>(from) < 0) integer = 0 - integer;
      } else if (places == 32 && (from << 9) != 0) {
        integer = static_cast<std::int32_t>(from) < 0 ? ~0u : 1u;  // more than a half
      }
      *q++ = static_cast<std::int32_t>(integer);
      sum += integer;
    }
    return sum;
  }
#elif __ARM_ARCH_ISA_THUMB == 1
  // r2 minus the exponent of x is one less than the number of places by which its mantissa,
  // left-aligned, is shifted right. lr is the sum.
  [[gnu::naked, gnu::noinline]] static std::uint32_t round_row(const float*, std::size_t,
                                                               std::uint32_t, std::uint32_t,
                                                               std::int32_t*) noexcept {
    asm volatile(
        ".syntax unified\n"
        "push {r4-r7, lr}\n ldr r4, [sp, #20]\n lsls r1, r1, #2\n adds r1, r1, r0\n mov r12, r1\n"
        "adds r2, #31\n subs r2, r2, r3\n movs r3, #0\n mov lr, r3\n movs r3, #128\n"
        "lsls r3, r3, #24\n cmp r0, r1\n beq 5f\n"
        "1: ldmia r0!, {r5}\n lsls r6, r5, #1\n lsrs r6, r6, #24\n subs r6, r2, r6\n"
        "cmp r6, #31\n bhs 3f\n lsls r7, r5, #8\n orrs r7, r3\n"
        "lsrs r7, r6\n adds r7, #1\n lsrs r1, r7, #1\n lsls r7, r5, #23\n beq 4f\n"
        "2: asrs r5, r5, #31\n eors r1, r5\n subs r1, r1, r5\n stmia r4!, {r1}\n add lr, r1\n"
        "cmp r0, r12\n bne 1b\n"
        "5: mov r0, lr\n pop {r4-r7, pc}\n"
        // less than 1: 1 if it is more than a half
        "3: movs r1, #0\n cmp r6, #31\n bne 2b\n lsls r7, r5, #9\n beq 2b\n movs r1, #1\n b 2b\n"
        // few bits: perhaps a tie that was rounded up
        "4: lsls r7, r5, #8\n orrs r7, r3\n adds r6, #1\n rors r7, r6\n lsrs r7, r7, #15\n"
        "lsrs r6, r3, #15\n cmp r7, r6\n bne 2b\n lsrs r1, r1, #1\n lsls r1, r1, #1\n b 2b\n");
  }
#else
  // r2 minus the exponent of x is by how many places its left-aligned mantissa is shifted right.
  [[gnu::naked, gnu::noinline]] static std::uint32_t round_row(const float*, std::size_t,
                                                               std::uint32_t, std::uint32_t,
                                                               std::int32_t*) noexcept {
    asm volatile(
        "push {r4-r7, lr}\n ldr r4, [sp, #20]\n add r1, r0, r1, lsl #2\n"
        "adds r2, r2, #32\n subs r2, r2, r3\n movs r3, #0\n cmp r0, r1\n beq 5f\n"
        ".balign 4\n"
        "1: ldr r5, [r0], #4\n ubfx r6, r5, #23, #8\n subs r6, r2, r6\n cmp r6, #32\n bhs 3f\n"
        "lsls r7, r5, #8\n orr r7, r7, #0x80000000\n lsrs r12, r7, r6\n adc r12, r12, #0\n"
        "lsls r7, r5, #23\n beq 4f\n"
        "2: eor r12, r12, r5, asr #31\n sub r12, r12, r5, asr #31\n str r12, [r4], #4\n"
        "add r3, r3, r12\n cmp r0, r1\n bne 1b\n"
        "5: mov r0, r3\n pop {r4-r7, pc}\n"
        // less than 1: 1 if it is more than a half
        "3: mov r12, #0\n bne 2b\n lsls r6, r5, #9\n it ne\n movne r12, #1\n b 2b\n"
        // few bits: perhaps a tie that was rounded up
        "4: lsls r7, r5, #8\n orr r7, r7, #0x80000000\n ror r7, r7, r6\n lsrs r7, r7, #15\n"
        "cmp r7, #0x10000\n it eq\n biceq r12, r12, #1\n b 2b\n");
  }
#endif
  // clang-format on

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
  // out[j] = float(sums[j] + addend) * (scales[j] * step) + bias[j], with roundings of the sum, of
  // the product of scales, and of the whole; bias may be null. step is 0, NaN or a power of two.
  [[gnu::noinline]] static void scale_sums(const std::uint32_t* sums, std::uint32_t addend,
                                           const float* scales, float step, const float* bias,
                                           float* out, std::size_t count) noexcept {
    const std::uint32_t power = (__builtin_bit_cast(std::uint32_t, step) >> 23) - 127;
    const bool is_ordinary = power + 40 <= 90;
    while (count != 0) {
      const std::size_t left = is_ordinary ? scale_ordinary_sums(sums, scales, bias, out, count,
                                                                 addend, power + power_offset)
                                           : count;
      const std::size_t done = count - left;
      if (left == 0) return;
      if (bias != nullptr) bias += done;
      out[done] =
          scale_any_sum(static_cast<std::int32_t>(sums[done] + addend), scales[done], step, bias);
      if (bias != nullptr) ++bias;
      sums += done + 1, scales += done + 1, out += done + 1, count = left - 1;
    }
  }
  // out[j] = float(sums[j] + addend) * scale
  static void scale_all(const std::uint32_t* sums, std::uint32_t addend, float scale, float* out,
                        std::size_t count) noexcept {
    for (std::size_t j = 0; j < count; ++j) out[j] = scale;
    scale_sums(sums, addend, out, 1.0f, nullptr, out, count);
  }

 private:
  // The general case of scale_sums.
  [[gnu::noinline]] static float scale_any_sum(std::int32_t sum, float scale, float step,
                                               const float* bias) noexcept {
    const float by = detail::fma_in_integers(scale, step, -0.0f);
    return detail::fma_in_integers(as_float(sum), by, bias == nullptr ? -0.0f : *bias);
  }
  // float(n), without the compiler's library, whose function would pull in its addition of floats.
  static float as_float(std::int32_t n) noexcept {
    const auto bits = static_cast<std::uint32_t>(n), sign = bits & detail::sign_bit;
    if (n == 0) return 0.0f;
    const std::uint32_t magnitude = sign != 0 ? 0 - bits : bits;
    const auto zeros = static_cast<std::uint32_t>(std::countl_zero(magnitude));
    const std::uint32_t mantissa = magnitude << zeros >> 8, rest = magnitude << zeros << 24;
    const std::uint32_t up = rest > detail::sign_bit - (mantissa & 1) ? 1 : 0;
    return __builtin_bit_cast(float, (sign | (157 - zeros) << 23) + mantissa + up);
  }

  // scale_sums up to the first sum that is not ordinary. Returns how many sums are left. `power` is
  // the exponent of step, from -40 to 50, plus power_offset; count is not 0. With that and a scale
  // from 2^-63 to 2^33 no result is subnormal or too large.
  // clang-format off
#if __ARM_ARCH_ISA_THUMB == 1
  static constexpr std::uint32_t power_offset = 87;
  // r0 is in sums, which end at r8; scales, bias and out are r9, r10 and r11 bytes from the next
  // sum. Without a bias r10 is 1. r12 is power, lr addend.
  [[gnu::naked, gnu::noinline]] static std::size_t scale_ordinary_sums(
      const std::uint32_t*, const float*, const float*, float*, std::size_t, std::uint32_t,
      std::uint32_t) noexcept {
    asm volatile(
        ".syntax unified\n"
        "push {r4-r7, lr}\n mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n push {r4-r7}\n"
        "ldr r4, [sp, #36]\n lsls r4, r4, #2\n adds r4, r4, r0\n mov r8, r4\n"
        "ldr r4, [sp, #40]\n mov lr, r4\n ldr r4, [sp, #44]\n mov r12, r4\n"
        "adds r4, r0, #4\n subs r1, r1, r4\n mov r9, r1\n subs r3, r3, r4\n mov r11, r3\n"
        "subs r4, r2, r4\n cmp r2, #0\n bne 1f\n movs r4, #1\n 1: mov r10, r4\n"
        // r1 is |sum|, r2 the scale, r3 the sign, r4 the exponent, plus 31
        "1: ldmia r0!, {r1}\n add r1, lr\n mov r2, r9\n ldr r2, [r2, r0]\n"
        "asrs r3, r1, #31\n eors r1, r3\n subs r1, r1, r3\n"
        "lsrs r4, r2, #23\n subs r4, #64\n cmp r4, #95\n bhi 9f\n"
        "add r4, r12\n lsrs r5, r1, #24\n bne 5f\n"
        // r1 and r7 are the product, times 2^16
        "2: uxth r5, r2\n lsls r2, r2, #9\n lsrs r2, r2, #25\n adds r2, #128\n uxth r7, r1\n"
        "lsrs r6, r1, #16\n muls r7, r5\n muls r6, r5\n muls r1, r2\n adds r1, r1, r6\n"
        "lsrs r6, r7, #16\n adds r1, r1, r6\n lsls r7, r7, #16\n"
        // the bias is added: r6 is its mantissa, to be shifted left by 31 - r5 places
        "mov r2, r10\n lsrs r5, r2, #1\n bcs 4f\n ldr r2, [r2, r0]\n"
        "14: movs r5, #128\n lsls r5, r5, #24\n lsls r6, r2, #8\n orrs r6, r5\n"
        "lsls r5, r2, #1\n lsrs r5, r5, #24\n subs r5, r4, r5\n cmp r5, #31\n bhi 6f\n"
        "eors r2, r3\n bmi 7f\n"
        "lsrs r2, r6, #1\n lsrs r2, r5\n rsbs r5, r5, #0\n adds r5, #31\n lsls r6, r5\n"
        "adds r7, r7, r6\n adcs r1, r2\n bcs 9f\n"
        // r2 is the number of leading zeros, mostly less than 5
        "4: lsrs r5, r1, #27\n beq 11f\n adr r6, 10f\n ldrb r2, [r6, r5]\n"
        "movs r5, #32\n subs r5, r5, r2\n lsls r1, r2\n mov r6, r7\n lsrs r6, r5\n orrs r1, r6\n"
        "lsls r6, r1, #25\n beq 8f\n"
        "13: subs r4, r4, r2\n lsls r3, r3, #8\n adds r4, r4, r3\n"
        "lsls r4, r4, #23\n lsrs r1, r1, #8\n adcs r1, r4\n mov r2, r11\n str r1, [r2, r0]\n"
        "cmp r0, r8\n bne 1b\n adds r0, #4\n"
        "9: mov r1, r8\n subs r0, r1, r0\n adds r0, #4\n lsrs r0, r0, #2\n"
        "pop {r4-r7}\n mov r8, r4\n mov r9, r5\n mov r10, r6\n mov r11, r7\n pop {r4-r7, pc}\n"
        // a sum of more than 24 bits is rounded
        "5: movs r6, #0\n 3: adds r6, #1\n lsrs r5, r5, #1\n bne 3b\n adds r4, r4, r6\n"
        "mov r5, r1\n lsrs r5, r6\n lsls r5, r5, #31\n lsrs r5, r5, #31\n adds r1, r1, r5\n"
        "movs r5, #1\n lsls r5, r6\n lsrs r5, r5, #1\n subs r5, #1\n adds r1, r1, r5\n"
        "lsrs r1, r6\n"
        "b 2b\n"
        // a bias of 0, or one that is large next to the product, which is then times 1
        "6: lsls r6, r2, #1\n beq 4b\n cmp r5, #0\n bpl 9b\n lsrs r6, r1, #16\n beq 9b\n"
        "lsrs r7, r7, #16\n lsls r5, r1, #16\n orrs r7, r5\n mov r1, r6\n adds r4, #16\n b 14b\n"
        "7: lsrs r2, r6, #1\n lsrs r2, r5\n rsbs r5, r5, #0\n adds r5, #31\n lsls r6, r5\n"
        "subs r7, r7, r6\n sbcs r1, r2\n"
        "bcs 4b\n mvns r3, r3\n movs r2, #0\n rsbs r7, r7, #0\n sbcs r2, r1\n mov r1, r2\n b 4b\n"
        // a result of fewer bits, or a tie, which becomes even
        "8: lsls r7, r2\n bne 13b\n lsls r6, r1, #23\n bmi 13b\n movs r6, #128\n bics r1, r6\n"
        "b 13b\n"
        "11: cmp r1, #0\n beq 9b\n lsls r1, r1, #5\n lsrs r6, r7, #27\n orrs r1, r6\n"
        "lsls r7, r7, #5\n subs r4, #5\n b 4b\n"
        ".balign 4\n 10: .byte 0, 4, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1\n"
        ".byte 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0\n");
  }
#else
  static constexpr std::uint32_t power_offset = 0;
  // r11 is negative, and rises to 0; it indexes sums, scales and bias, which end at r8, r9 and r7.
  // r10 is in out, r12 is power, lr addend.
  [[gnu::naked, gnu::noinline]] static std::size_t scale_ordinary_sums(
      const std::uint32_t*, const float*, const float*, float*, std::size_t, std::uint32_t,
      std::uint32_t) noexcept {
    asm volatile(
        "push {r4-r11, lr}\n ldr r4, [sp, #36]\n lsls r4, r4, #2\n add r8, r0, r4\n"
        "add r9, r1, r4\n movs r7, r2\n it ne\n addne r7, r7, r4\n mov r10, r3\n"
        "rsb r11, r4, #0\n ldrd lr, r12, [sp, #40]\n .balign 4\n"
        // r0 is |sum|, r1 the scale, r3 the exponent, r6 has the sign
        "1: ldr r0, [r8, r11]\n ldr r1, [r9, r11]\n add r6, r0, lr\n"
        "eor r0, r6, r6, asr #31\n sub r0, r0, r6, asr #31\n"
        "sub r2, r1, #0x20000000\n cmp r2, #0x30000000\n bhs 9f\n"
        "add r3, r12, r1, lsr #23\n cmp r0, #0x01000000\n bhi 5f\n"
        // r1 and r0 are the product, times 2^8
        "2: lsls r1, r1, #8\n orr r1, r1, #0x80000000\n umull r0, r1, r0, r1\n"
        // the bias is added: r5 is its mantissa, to be shifted left by r4 places
        "cbz r7, 4f\n ldr r2, [r7, r11]\n ubfx r4, r2, #23, #8\n subs r4, r4, r3\n cmp r4, #30\n"
        "bhi 6f\n"
        "lsls r5, r2, #8\n orr r5, r5, #0x80000000\n teq r2, r6\n"
        "rsb r2, r4, #32\n lsr r2, r5, r2\n lsl r5, r5, r4\n bmi 7f\n"
        "adds r0, r0, r5\n adcs r1, r1, r2\n"
        // r2 is the number of leading zeros
        "4: cbz r1, 9f\n clz r2, r1\n lsls r1, r1, r2\n rsb r4, r2, #31\n lsr r5, r0, r4\n"
        "orr r1, r1, r5, lsr #1\n lsls r5, r1, #25\n beq 8f\n"
        "3: adds r3, r3, r4\n lsrs r1, r1, #8\n adc r1, r1, r3, lsl #23\n bfi r6, r1, #0, #31\n"
        "str r6, [r10], #4\n adds r11, r11, #4\n bne 1b\n"
        "9: rsb r0, r11, #0\n lsrs r0, r0, #2\n pop {r4-r11, pc}\n"
        // a sum of more than 24 bits is rounded
        "5: clz r2, r0\n rsb r2, r2, #8\n add r3, r3, r2\n lsr r4, r0, r2\n and r4, r4, #1\n"
        "add r0, r0, r4\n"
        "movs r4, #1\n lsls r4, r4, r2\n lsrs r4, r4, #1\n subs r4, r4, #1\n adds r0, r0, r4\n"
        "lsrs r0, r0, r2\n b 2b\n"
        "6: lsls r2, r2, #1\n beq 4b\n b 9b\n"
        "7: subs r0, r0, r5\n sbcs r1, r1, r2\n bcs 4b\n"
        "rsbs r0, r0, #0\n sbc r1, r1, r1, lsl #1\n mvns r6, r6\n b 4b\n"
        // a result of fewer bits, or a tie, which becomes even
        "8: lsls r0, r0, r2\n bne 3b\n lsls r5, r1, #23\n it pl\n bicpl r1, r1, #128\n b 3b\n");
  }
#endif
  // clang-format on
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
