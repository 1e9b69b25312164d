// SPDX-License-Identifier: MIT
//
// Scores and weights of an int8 cache on a Cortex-M with an FPU: loops that keep all they need in
// registers, which compilers do not.
#pragma once

#include "tinyattn/port/compiler.hpp"
#include "tinyattn/port/score_block.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct fpu_scores {
  // On the cores for which fpu_integers packs rows: their sums lack nothing, and the addend is 0.
  // At -Os the compiler's loops take less flash.
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && \
    __ARM_ARCH_PROFILE == 'M' && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ &&           \
    !defined(__OPTIMIZE_SIZE__)
  // No addend: sums begin with it.
  static void scale_all(const std::uint32_t* sums, std::uint32_t, float scale, float* out,
                        std::size_t count) noexcept {
    scale_alike(sums, __builtin_bit_cast(std::uint32_t, scale), out, count);
  }

  // clang-format off
#define TINYATTN_TAKE_GREATER(most, n) "cmp " most ", " n "\n it lt\n movlt " most ", " n "\n"
  // The fields of the block are in r1 to r8, maxima in r9 to r11. No sum lacks anything.
  [[gnu::naked, gnu::noinline, gnu::aligned(4)]] static void find_scores(score_block&) noexcept {
    asm volatile("push {r0, r4-r11, lr}\n ldm r0, {r1-r8}\n ldr r9, [r0, #36]\n"
                 "mov r10, #0\n mov r11, #0\n add r5, r3\n subs r7, #1\n .balign 4\n"
                 "1: ldrb r0, [r3], #1\n ldrb lr, [r4], #1\n ldr r12, [r1], #4\n"
                 TINYATTN_TAKE_GREATER("r10", "r0") TINYATTN_TAKE_GREATER("r11", "lr")
                 "and lr, r0, #7\n asr r12, r7\n ldr lr, [r6, lr, lsl #2]\n"
                 "sub r12, r12, r12, asr #1\n sub r0, r8, r0, lsr #3\n mul r12, lr\n"
                 "asr r12, r0\n" TINYATTN_TAKE_GREATER("r9", "r12")
                 "str r12, [r2], #4\n cmp r3, r5\n bne 1b\n"
                 "pop {r0}\n add r0, #36\n stm r0, {r9-r11}\n pop {r4-r11, pc}");
  }
#undef TINYATTN_TAKE_GREATER
  // r11 is by how much a score is below the largest, then by how many places its power is shifted;
  // r10 is 2^20 plus its low five bits, so that entry - (entry >> 20) * r10 drops the high bits and
  // interpolates. The sums are in r7 and r8.
  [[gnu::naked, gnu::noinline, gnu::aligned(4)]] static std::uint64_t weigh(
      std::int32_t*, const std::uint8_t*, std::size_t, std::uint32_t, std::uint32_t, std::uint32_t,
      const std::uint32_t*) noexcept {
    asm volatile("push {r4-r11, lr}\n add r6, sp, #36\n ldm r6, {r4-r6}\n subs r4, #1\n"
                 "adds r5, #5\n movs r7, #0\n mov r8, #0\n mov r10, #0x100000\n"
                 "adds r2, r1\n cmp r1, r2\n beq 2f\n .balign 4\n"
                 "1: ldr r11, [r0]\n ldrb r12, [r1], #1\n sub r11, r3, r11\n"
                 "ubfx lr, r11, #5, #5\n bfi r10, r11, #0, #5\n ldr lr, [r6, lr, lsl #2]\n"
                 "add r11, r5, r11, lsr #10\n lsr r9, lr, #20\n usat r11, #6, r11\n"
                 "mls lr, r9, r10, lr\n and r9, r12, #7\n lsr lr, r11\n orr r9, #8\n"
                 "mul r9, lr\n sub r12, r4, r12, lsr #3\n cmp r1, r2\n lsr r9, r12\n"
                 "sub r9, r9, r9, lsr #1\n add r7, lr\n str r9, [r0], #4\n add r8, r9\n"
                 "bne 1b\n"
                 "2: mov r0, r7\n mov r1, r8\n pop {r4-r11, pc}");
  }

 private:
  // The scale is in a core register. Four at a time, after those that exceed a multiple of four.
  [[gnu::naked, gnu::noinline]] static void scale_alike(const std::uint32_t*, std::uint32_t, float*,
                                                        std::size_t) noexcept {
    asm volatile("vmov s4, r1\n add r12, r0, r3, lsl #2\n lsls r3, r3, #30\n beq 2f\n"
                 "1: vldmia r0!, {s0}\n vcvt.f32.s32 s0, s0\n vmul.f32 s0, s0, s4\n"
                 "vstmia r2!, {s0}\n subs r3, #0x40000000\n bne 1b\n"
                 "2: cmp r0, r12\n beq 4f\n .balign 4\n"
                 "3: vldmia r0!, {s0-s3}\n vcvt.f32.s32 s0, s0\n vcvt.f32.s32 s1, s1\n"
                 "vcvt.f32.s32 s2, s2\n vcvt.f32.s32 s3, s3\n vmul.f32 s0, s0, s4\n"
                 "vmul.f32 s1, s1, s4\n vmul.f32 s2, s2, s4\n vmul.f32 s3, s3, s4\n"
                 "vstmia r2!, {s0-s3}\n cmp r0, r12\n bne 3b\n"
                 "4: bx lr");
  }
  // clang-format on
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
