// SPDX-License-Identifier: MIT
//
// Sums of products of integers for the DSP instructions of Cortex-M: SMLAD adds two products of
// halfwords, and UXTB16 makes halfwords of two of four codes. Compilers find neither.
#pragma once

#include "tinyattn/port/compiler.hpp"
#include "tinyattn/port/fpu_scores.hpp"
#include "tinyattn/port/magnitudes.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct fpu_integers : magnitudes, fpu_scores {
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && \
    __ARM_ARCH_PROFILE == 'M' && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  // Naked functions, because all registers are in use, a frame pointer's too, and builds without
  // optimization compile them as well. Loops of sixteen terms are entered in the middle if eight
  // are left over. They are aligned, since a branch to half a word takes longer.
#if defined(__OPTIMIZE_SIZE__)  // one loop takes less flash; the sums are the same
  static constexpr std::size_t integer_rows = 1;
#else
  static constexpr std::size_t integer_rows = 2;
#endif

  template <std::size_t Rows>
  requires(Rows == 1 || Rows == integer_rows) TINYATTN_ALWAYS_INLINE
      static void integer_dots(const std::int32_t* q, [[maybe_unused]] std::size_t q_stride,
                               const std::uint8_t* codes, std::size_t stride, std::size_t terms,
                               std::size_t cols, std::uint32_t* sums) noexcept {
#if !defined(__OPTIMIZE_SIZE__)
    if constexpr (Rows != 1) return dots_of_two_rows(q, q_stride, codes, stride, terms, cols, sums);
#endif
    if (terms == 8) return dots_of_eights(q, codes, stride, sums, cols);
    dots_of_row(q, codes, stride, terms, cols, sums);
  }

  // Every four integers become two words: 0 and 2, 1 and 3. The start of the sums goes into the
  // last of the words that this frees.
  [[gnu::naked, gnu::noinline]] static void pack_row(std::int32_t*, std::size_t,
                                                     std::uint32_t) noexcept {
    // clang-format off
    asm volatile("push {r4-r10}\n add r10, r0, r1, lsl #2\n mov r12, r0\n .balign 4\n"
                 "1: ldm r12!, {r1, r3-r9}\n"
                 "pkhbt r1, r1, r4, lsl #16\n pkhbt r3, r3, r5, lsl #16\n"
                 "pkhbt r6, r6, r8, lsl #16\n pkhbt r7, r7, r9, lsl #16\n"
                 "stm r0!, {r1, r3, r6, r7}\n cmp r12, r10\n bne 1b\n"
                 "str r2, [r10, #-4]\n pop {r4-r10}\n bx lr");
    // clang-format on
  }

#if defined(__ARM_FEATURE_FMA) && !defined(__OPTIMIZE_SIZE__)  // else loops take less flash
  static std::uint32_t round_and_pack(const float* x, std::size_t count, float steps_of_one,
                                      std::int32_t* q, std::size_t terms) noexcept {
    const std::size_t eights = count - count % 8;
    std::uint32_t sum = round_eights(x, eights, __builtin_bit_cast(std::uint32_t, steps_of_one), q);
    if (eights != terms) {
      std::int32_t* const rest = q + eights / 2;
      for (std::size_t k = eights; k < terms; ++k) {
        const float rounded = k < count ? __builtin_fmaf(x[k], steps_of_one, 0x1.8p23f) : 0x1.8p23f;
        rest[k - eights] = static_cast<std::int16_t>(__builtin_bit_cast(std::uint32_t, rounded));
        sum += static_cast<std::uint32_t>(rest[k - eights]);
      }
      pack_row(rest, terms - eights, 0);
    }
    q[terms - 1] = static_cast<std::int32_t>(0u - sum * 128u);
    return 0;
  }
  // No addend: sums begin with it.
  static void scale_sums(const std::uint32_t* sums, std::uint32_t, const float* scales, float step,
                         const float* bias, float* out, std::size_t count) noexcept {
    scale_by(sums, count, scales, __builtin_bit_cast(std::uint32_t, step), bias, out);
  }
#endif

 private:
  // The columns that exceed a multiple of a tile's come in a tile with columns before them.
  [[gnu::noinline]] static void dots_of_row(const std::int32_t* q, const std::uint8_t* codes,
                                            std::size_t stride, std::size_t terms, std::size_t cols,
                                            std::uint32_t* sums) noexcept {
    if (cols < 4) {
      const std::size_t step = cols == 1 ? 0 : stride;
      std::uint32_t tile[4];
      tiles_of_row(q, codes, step, codes + (cols == 3 ? stride : 0), terms, tile, tile + 4);
      for (std::size_t j = 0; j < cols; ++j) sums[j] = tile[j < 2 ? j : 3];
      return;
    }
    const std::size_t rest = cols % 4;
    std::uint32_t* const end = sums + cols;
    tiles_of_row(q, codes, stride, codes + 2 * stride, terms, sums, end - rest);
    if (rest == 0) return;
    codes += (cols - 4) * stride;
    tiles_of_row(q, codes, stride, codes + 2 * stride, terms, end - 4, end);
  }
#if !defined(__OPTIMIZE_SIZE__)
  [[gnu::noinline]] static void dots_of_two_rows(const std::int32_t* q, std::size_t q_stride,
                                                 const std::uint8_t* codes, std::size_t stride,
                                                 std::size_t terms, std::size_t cols,
                                                 std::uint32_t* sums) noexcept {
    if (cols == 1) {
      std::uint32_t tile[4];
      tiles_of_two_rows(q, q_stride, codes, 0, terms, tile, tile + 2, 2);
      sums[0] = tile[0], sums[1] = tile[2];
      return;
    }
    std::uint32_t* const end = sums + cols;
    tiles_of_two_rows(q, q_stride, codes, stride, terms, sums, end - cols % 2, cols);
    if (cols % 2 == 0) return;
    codes += (cols - 2) * stride;
    tiles_of_two_rows(q, q_stride, codes, stride, terms, end - 2, end, cols);
  }
#endif

#if defined(__ARM_FEATURE_FMA) && !defined(__OPTIMIZE_SIZE__)
  // Floats are in core registers.
  // clang-format off
#define TINYATTN_EIGHT(step)                                                                      \
  step("s0", "s8", "s16") step("s1", "s9", "s17") step("s2", "s10", "s18")                        \
  step("s3", "s11", "s19") step("s4", "s12", "s20") step("s5", "s13", "s21")                      \
  step("s6", "s14", "s22") step("s7", "s15", "s23")

  // Rounds and packs a multiple of eight elements, and returns their sum. A product with a power of
  // two is exact, or too small to round to more than 0.
#define TINYATTN_MULTIPLY(x, factor, y) "vmul.f32 " x ", " x ", s8\n"
#define TINYATTN_ROUND(x, factor, y) "vcvtr.s32.f32 " x ", " x "\n"
  [[gnu::naked, gnu::noinline]] static std::uint32_t round_eights(const float*, std::size_t,
                                                                  std::uint32_t,
                                                                  std::int32_t*) noexcept {
    asm volatile("push {r4-r8, lr}\n vmov s8, r2\n mov r12, #0\n mov lr, #0x00010001\n"
                 "add r1, r0, r1, lsl #2\n cmp r0, r1\n beq 2f\n"
                 "1: vldmia r0!, {s0-s7}\n"
                 TINYATTN_EIGHT(TINYATTN_MULTIPLY) TINYATTN_EIGHT(TINYATTN_ROUND)
                 "vmov r4, r5, s0, s1\n vmov r6, r7, s2, s3\n"
                 "pkhbt r4, r4, r6, lsl #16\n pkhbt r5, r5, r7, lsl #16\n"
                 "vmov r6, r7, s4, s5\n smlad r12, r4, lr, r12\n"
                 "vmov r2, r8, s6, s7\n smlad r12, r5, lr, r12\n"
                 "pkhbt r6, r6, r2, lsl #16\n pkhbt r7, r7, r8, lsl #16\n"
                 "smlad r12, r6, lr, r12\n cmp r0, r1\n smlad r12, r7, lr, r12\n"
                 "stmia r3!, {r4-r7}\n bne 1b\n"
                 "2: mov r0, r12\n pop {r4-r8, pc}");
  }
#undef TINYATTN_ROUND
#undef TINYATTN_MULTIPLY

  // Eight elements at a time, after the elements that exceed a multiple of eight. To these -0 is
  // added if there is no bias, which changes nothing.
#define TINYATTN_PREPARE(sum, scale, to)                                                          \
  "vcvt.f32.s32 " sum ", " sum "\n vmul.f32 " scale ", " scale ", s24\n"
#define TINYATTN_ADD(sum, scale, to) "vfma.f32 " to ", " sum ", " scale "\n"
#define TINYATTN_MULTIPLY(sum, scale, to) "vmul.f32 " to ", " sum ", " scale "\n"
  [[gnu::naked, gnu::noinline, gnu::aligned(4)]] static void scale_by(
      const std::uint32_t*, std::size_t, const float*, std::uint32_t, const float*,
      float*) noexcept {
    asm volatile("push {r4, r5}\n vpush {d8-d12}\n vmov s24, r3\n ldrd r4, r5, [sp, #48]\n"
                 "add r12, r0, r1, lsl #2\n movs r3, #4\n cmp r4, #0\n itt eq\n"
                 "adreq.w r4, 6f\n moveq r3, #0\n lsls r1, r1, #29\n beq 2f\n"
                 "1: vldmia r0!, {s0}\n vldmia r2!, {s8}\n vldr s16, [r4]\n add r4, r3\n"
                 TINYATTN_PREPARE("s0", "s8", "s16") TINYATTN_ADD("s0", "s8", "s16")
                 "vstmia r5!, {s16}\n subs r1, #0x20000000\n bne 1b\n"
                 "2: cmp r0, r12\n beq 5f\n .balign 4\n"
                 "3: vldmia r0!, {s0-s7}\n vldmia r2!, {s8-s15}\n"
                 TINYATTN_EIGHT(TINYATTN_PREPARE)
                 "cbz r3, 4f\n vldmia r4!, {s16-s23}\n" TINYATTN_EIGHT(TINYATTN_ADD)
                 "vstmia r5!, {s16-s23}\n cmp r0, r12\n bne 3b\n b 5f\n .balign 4\n"
                 "4: " TINYATTN_EIGHT(TINYATTN_MULTIPLY)
                 "vstmia r5!, {s16-s23}\n cmp r0, r12\n bne 3b\n"
                 "5: vpop {d8-d12}\n pop {r4, r5}\n bx lr\n"
                 ".balign 4\n6: .word 0x80000000");
  }
#undef TINYATTN_MULTIPLY
#undef TINYATTN_ADD
#undef TINYATTN_PREPARE
#undef TINYATTN_EIGHT
  // clang-format on
#endif

  // clang-format off
#define TINYATTN_EVEN(to, codes) "uxtb16 " to ", " codes "\n"
#define TINYATTN_ODD(codes) "uxtb16 " codes ", " codes ", ror #8\n"
#define TINYATTN_ADD(sum, q, codes) "smlad " sum ", " q ", " codes ", " sum "\n"

  // Columns of eight codes: the row stays in r4 to r7. r12 ends the sums.
  [[gnu::naked, gnu::noinline, gnu::aligned(4)]] static void dots_of_eights(
      const std::int32_t*, const std::uint8_t*, std::size_t, std::uint32_t*,
      std::size_t) noexcept {
    asm volatile("push {r4-r10, lr}\n ldr r12, [sp, #32]\n ldm r0, {r4-r7}\n"
                 "ldr r0, [r0, #28]\n add r12, r3, r12, lsl #2\n .balign 4\n"
                 "1: ldr r8, [r1]\n ldr r9, [r1, #4]\n add r1, r2\n"
                 "uxtb16 lr, r8\n uxtb16 r8, r8, ror #8\n smlad r10, r4, lr, r0\n"
                 "uxtb16 lr, r9\n smlad r10, r5, r8, r10\n uxtb16 r9, r9, ror #8\n"
                 "smlad r10, r6, lr, r10\n smlad r10, r7, r9, r10\n"
                 "str r10, [r3], #4\n cmp r3, r12\n bne 1b\n pop {r4-r10, pc}");
  }

  // Tiles of four columns: two at r1, which are r2 bytes apart, and two at r3. Sums are in r8 to
  // r11, q at r0. The stack has what each tile begins with, in the order of registers, then the end
  // of q and the step to the next tile. Loads stand in rows, in which all but the last take one
  // cycle, and no result is used by the next instruction.
#define TINYATTN_FOUR(load_end, compare)                                                          \
  load_end "ldr r5, [r0, #4]\n ldr r7, [r1, r2]\n ldr r4, [r0], #8\n ldr r6, [r1], #4\n"          \
  "ldr r12, [r3, r2]\n" compare TINYATTN_EVEN("lr", "r6") TINYATTN_ODD("r6")                      \
  TINYATTN_ADD("r8", "r4", "lr") TINYATTN_EVEN("lr", "r7") TINYATTN_ADD("r8", "r5", "r6")         \
  TINYATTN_ODD("r7") TINYATTN_ADD("r9", "r4", "lr") TINYATTN_EVEN("lr", "r12")                    \
  TINYATTN_ADD("r9", "r5", "r7") "ldr r7, [r3], #4\n" TINYATTN_ODD("r12")                         \
  TINYATTN_EVEN("r6", "r7") TINYATTN_ADD("r11", "r4", "lr") TINYATTN_ODD("r7")                    \
  TINYATTN_ADD("r10", "r4", "r6") TINYATTN_ADD("r11", "r5", "r12") TINYATTN_ADD("r10", "r5", "r7")
#define TINYATTN_LAST_FOUR TINYATTN_FOUR("ldr lr, [sp, #20]\n", "cmp.w r0, lr\n")
#if defined(__OPTIMIZE_SIZE__)
#define TINYATTN_HALF_TURN "1: "
#else
#define TINYATTN_HALF_TURN                                                                        \
  "lsls.w r5, r5, #28\n bmi.w 2f\n 1: " TINYATTN_FOUR("", "") TINYATTN_FOUR("", "") "2: "
#endif
  [[gnu::naked, gnu::noinline, gnu::aligned(4)]] static void tiles_of_row(
      const std::int32_t*, const std::uint8_t*, std::size_t, const std::uint8_t*, std::size_t,
      std::uint32_t*, std::uint32_t*) noexcept {
    asm volatile("push {r4-r11, lr}\n ldr r4, [sp, #36]\n rsb r5, r4, r2, lsl #2\n"
                 "add r4, r0, r4, lsl #1\n push {r4, r5}\n"
                 "ldr r4, [sp, #44]\n add r4, r0, r4, lsl #2\n ldr r8, [r4, #-4]\n"
                 "mov r9, r8\n mov r10, r8\n mov r11, r8\n push {r0, r8-r11}\n"
                 ".balign 4\n 0: ldm sp, {r0, r8-r11}\n"
                 TINYATTN_HALF_TURN TINYATTN_FOUR("", "") TINYATTN_LAST_FOUR "bne.w 1b\n"
                 "ldr r4, [sp, #68]\n ldr r5, [sp, #24]\n ldr r6, [sp, #72]\n"
                 "add r1, r5\n str r9, [r4, #4]\n str r10, [r4, #8]\n str r11, [r4, #12]\n"
                 "str r8, [r4], #16\n cmp r4, r6\n str r4, [sp, #68]\n add r3, r5\n bne.w 0b\n"
                 "add sp, #28\n pop {r4-r11, pc}");
  }
#undef TINYATTN_HALF_TURN
#undef TINYATTN_LAST_FOUR
#undef TINYATTN_FOUR

#if !defined(__OPTIMIZE_SIZE__)
  // Tiles of two rows, at r0 and r1, and two columns, at r2, which are r3 bytes apart: sums in r8
  // and r9, r10 and r11. lr is the end of the first row.
#define TINYATTN_FOUR                                                                             \
  "ldr.w r7, [r2, r3]\n ldr r6, [r2], #4\n ldr r4, [r0], #4\n ldr r5, [r1], #4\n"                 \
  TINYATTN_EVEN("r12", "r6") TINYATTN_ODD("r6")                                                   \
  TINYATTN_ADD("r8", "r4", "r12") TINYATTN_ADD("r10", "r5", "r12")                                \
  TINYATTN_EVEN("r12", "r7") TINYATTN_ODD("r7")                                                   \
  TINYATTN_ADD("r9", "r4", "r12") TINYATTN_ADD("r11", "r5", "r12")                                \
  "ldr r4, [r0], #4\n ldr r5, [r1], #4\n"                                                         \
  TINYATTN_ADD("r8", "r4", "r6") TINYATTN_ADD("r10", "r5", "r6")                                  \
  TINYATTN_ADD("r9", "r4", "r7") TINYATTN_ADD("r11", "r5", "r7")
  [[gnu::naked, gnu::noinline, gnu::aligned(4)]] static void tiles_of_two_rows(
      const std::int32_t*, std::size_t, const std::uint8_t*, std::size_t, std::size_t,
      std::uint32_t*, std::uint32_t*, std::size_t) noexcept {
    asm volatile("push {r4-r11, lr}\n ldr r4, [sp, #36]\n add r1, r0, r1, lsl #2\n"
                 "add lr, r0, r4, lsl #1\n rsb r6, r4, r3, lsl #1\n"
                 "add r5, lr, r4, lsl #1\n ldr r8, [r5, #-4]\n mov r9, r8\n"
                 "add r5, r1, r4, lsl #2\n ldr r10, [r5, #-4]\n mov r11, r10\n"
                 "push {r0, r1, r6, r8-r11}\n .balign 4\n"
                 "0: ldm sp, {r0, r1, r6, r8-r11}\n lsls.w r6, r6, #28\n bmi.w 2f\n"
                 "1: " TINYATTN_FOUR TINYATTN_FOUR "2: " TINYATTN_FOUR TINYATTN_FOUR
                 "cmp r0, lr\n bne 1b\n"
                 "ldr r4, [sp, #68]\n ldr r5, [sp, #76]\n ldr r6, [sp, #8]\n ldr r7, [sp, #72]\n"
                 "add r2, r6\n add r5, r4, r5, lsl #2\n str r9, [r4, #4]\n str r8, [r4], #8\n"
                 "str r10, [r5]\n str r11, [r5, #4]\n cmp r4, r7\n str r4, [sp, #68]\n bne.w 0b\n"
                 "add sp, #28\n pop {r4-r11, pc}");
  }
#undef TINYATTN_FOUR
#endif
#undef TINYATTN_ADD
#undef TINYATTN_ODD
#undef TINYATTN_EVEN
  // clang-format on
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
