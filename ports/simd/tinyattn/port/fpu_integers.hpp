// SPDX-License-Identifier: MIT
//
// Sums of products of integers for the DSP instructions of Cortex-M: SMLAD adds two products of
// halfwords, and UXTB16 makes halfwords of two of four codes. Compilers find neither.
#pragma once

#include "tinyattn/port/compiler.hpp"
#include "tinyattn/port/magnitudes.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct fpu_integers : magnitudes {
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && \
    __ARM_ARCH_PROFILE == 'M' && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  // Naked functions, because all registers are in use, a frame pointer's too, and builds without
  // optimization compile them as well. Loops are entered in the middle if there are fewer terms, so
  // all instructions of their bodies have four bytes, and functions are aligned, as ADR requires.
#if defined(__OPTIMIZE_SIZE__)  // one loop takes less flash; the sums are the same
  static constexpr std::size_t integer_rows = 1;
#else
  static constexpr std::size_t integer_rows = 4;
#endif

  template <std::size_t Rows>
  requires(Rows == 1 || Rows == integer_rows) TINYATTN_ALWAYS_INLINE
      static void integer_dots(const std::int32_t* q, std::size_t q_stride,
                               const std::uint8_t* codes, std::size_t stride, std::size_t terms,
                               std::size_t cols, std::uint32_t* sums) noexcept {
#if !defined(__OPTIMIZE_SIZE__)
    if constexpr (Rows != 1)
      return dots_of_four_rows(q, q_stride, codes, stride, terms, cols, sums);
#endif
    dots_of_row(q, q_stride, codes, stride, terms, cols, sums);
  }

  // Every four integers become two words: 0 and 2, 1 and 3. The start of the sums goes into the
  // last of the words that this frees.
  [[gnu::naked, gnu::noinline]] static void pack_row(std::int32_t*, std::size_t,
                                                     std::uint32_t) noexcept {
    // clang-format off
    asm volatile("push {r4-r10}\n add r10, r0, r1, lsl #2\n mov r12, r0\n"
                 "1: ldm r12!, {r1, r3-r9}\n"
                 "pkhbt r1, r1, r4, lsl #16\n pkhbt r3, r3, r5, lsl #16\n"
                 "pkhbt r6, r6, r8, lsl #16\n pkhbt r7, r7, r9, lsl #16\n"
                 "stm r0!, {r1, r3, r6, r7}\n cmp r12, r10\n bne 1b\n"
                 "str r2, [r10, #-4]\n pop {r4-r10}\n bx lr");
    // clang-format on
  }

#if defined(__ARM_FEATURE_FMA) && !defined(__OPTIMIZE_SIZE__)  // else loops take less flash
  [[gnu::noinline]] static void round_and_pack(const float* x, std::size_t count,
                                               float steps_of_one, std::int32_t* q,
                                               std::size_t terms) noexcept {
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
  }
  // No addend: sums begin with it.
  static void scale_sums(const std::uint32_t* sums, std::uint32_t, const float* scales, float step,
                         const float* bias, float* out, std::size_t count) noexcept {
    scale_by(sums, count, scales, __builtin_bit_cast(std::uint32_t, step), bias, out);
  }
#endif

 private:
#if defined(__ARM_FEATURE_FMA) && !defined(__OPTIMIZE_SIZE__)
  // Floats are in core registers.
  // clang-format off

  // Rounds and packs a multiple of eight elements, and returns their sum. After adding 1.5 * 2^23,
  // a float's low halfword is the integer.
#define TINYATTN_PAIR(a, b, c, d, low, high)                                                      \
  "vmov r4, r5, " a ", " b "\n vmov r6, r7, " c ", " d "\n"                                       \
  "pkhbt " low ", r4, r6, lsl #16\n pkhbt " high ", r5, r7, lsl #16\n"                            \
  "smlad r12, " low ", lr, r12\n smlad r12, " high ", lr, r12\n"
  [[gnu::naked, gnu::noinline, gnu::aligned(4)]] static std::uint32_t round_eights(
      const float*, std::size_t, std::uint32_t, std::int32_t*) noexcept {
    asm volatile("push {r4-r11, lr}\n vpush {d8}\n vmov s16, r2\n mov r12, #0\n"
                 "mov lr, #0x00010001\n adr.w r2, 3f\n add r1, r0, r1, lsl #2\n b 2f\n"
                 "1: vldmia r2, {s0-s7}\n vldmia r0!, {s8-s15}\n"
                 "vfma.f32 s0, s8, s16\n vfma.f32 s1, s9, s16\n vfma.f32 s2, s10, s16\n"
                 "vfma.f32 s3, s11, s16\n vfma.f32 s4, s12, s16\n vfma.f32 s5, s13, s16\n"
                 "vfma.f32 s6, s14, s16\n vfma.f32 s7, s15, s16\n"
                 TINYATTN_PAIR("s0", "s1", "s2", "s3", "r8", "r9")
                 TINYATTN_PAIR("s4", "s5", "s6", "s7", "r10", "r11") "stmia r3!, {r8-r11}\n"
                 "2: cmp r0, r1\n bne 1b\n mov r0, r12\n vpop {d8}\n pop {r4-r11, pc}\n"
                 ".balign 4\n3: .rept 8\n .word 0x4b400000\n .endr");
  }
#undef TINYATTN_PAIR

  // Eight elements at a time, after the elements that exceed a multiple of eight. Without a bias,
  // -0 is added, which changes nothing.
#define TINYATTN_SCALE(sum, scale, bias)                                                          \
  "vcvt.f32.s32 " sum ", " sum "\n vmul.f32 " scale ", " scale ", s24\n"                          \
  "vfma.f32 " bias ", " sum ", " scale "\n"
  [[gnu::naked, gnu::noinline, gnu::aligned(4)]] static void scale_by(
      const std::uint32_t*, std::size_t, const float*, std::uint32_t, const float*,
      float*) noexcept {
    asm volatile("push {r4, r5}\n vpush {d8-d12}\n vmov s24, r3\n ldrd r4, r5, [sp, #48]\n"
                 "add r12, r0, r1, lsl #2\n movs r3, #4\n cmp r4, #0\n itt eq\n"
                 "adreq.w r4, 5f\n moveq r3, #0\n lsls r1, r1, #29\n beq 2f\n"
                 "1: vldmia r0!, {s0}\n vldmia r2!, {s8}\n"
                 "vldr s16, [r4]\n add r4, r3\n" TINYATTN_SCALE("s0", "s8", "s16")
                 "vstmia r5!, {s16}\n subs r1, #0x20000000\n bne 1b\n"
                 "2: lsls r3, r3, #3\n cmp r0, r12\n beq 4f\n"
                 "3: vldmia r0!, {s0-s7}\n vldmia r2!, {s8-s15}\n vldmia r4, {s16-s23}\n"
                 "add r4, r3\n"
                 TINYATTN_SCALE("s0", "s8", "s16") TINYATTN_SCALE("s1", "s9", "s17")
                 TINYATTN_SCALE("s2", "s10", "s18") TINYATTN_SCALE("s3", "s11", "s19")
                 TINYATTN_SCALE("s4", "s12", "s20") TINYATTN_SCALE("s5", "s13", "s21")
                 TINYATTN_SCALE("s6", "s14", "s22") TINYATTN_SCALE("s7", "s15", "s23")
                 "vstmia r5!, {s16-s23}\n cmp r0, r12\n bne 3b\n"
                 "4: vpop {d8-d12}\n pop {r4, r5}\n bx lr\n"
                 ".balign 4\n5: .rept 8\n .word 0x80000000\n .endr");
  }
#undef TINYATTN_SCALE
  // clang-format on
#endif

  // clang-format off
#define TINYATTN_HALF(codes, turn, temporary, q, sum)                                             \
  "uxtb16 " temporary ", " codes turn "\n smlad " sum ", " q ", " temporary ", " sum "\n"

  // Two sums in r11 and r12, over pairs of columns. r0 points to q, r1 and r2 to the codes of both
  // columns, r3 to the sums, lr to the end of q. The words to load for each pair are on the stack,
  // in the order of their registers; r7 is the address of the last sum. A single last column is
  // paired with itself, and the sums of that pair go to the stack.
#define TINYATTN_COLUMN(from, sum)                                                                \
  "ldrd r8, r9, [" from "], #8\n"                                                                 \
  TINYATTN_HALF("r8", "", "r10", "r4", sum) TINYATTN_HALF("r8", ", ror #8", "r8", "r5", sum)      \
  TINYATTN_HALF("r9", "", "r10", "r6", sum) TINYATTN_HALF("r9", ", ror #8", "r9", "r7", sum)
#define TINYATTN_EIGHT                                                                            \
  "ldmia.w r0!, {r4-r7}\n" TINYATTN_COLUMN("r1", "r11") TINYATTN_COLUMN("r2", "r12")
#if defined(__OPTIMIZE_SIZE__)
#define TINYATTN_TURN TINYATTN_EIGHT TINYATTN_EIGHT
#define TINYATTN_BITS_OF_TURN "1"
#else
#define TINYATTN_TURN TINYATTN_EIGHT TINYATTN_EIGHT TINYATTN_EIGHT TINYATTN_EIGHT
#define TINYATTN_BITS_OF_TURN "2"
#endif
  [[gnu::naked, gnu::noinline, gnu::aligned(4)]] static void dots_of_row(
      const std::int32_t*, std::size_t, const std::uint8_t*, std::size_t, std::size_t, std::size_t,
      std::uint32_t*) noexcept {
    asm volatile("push {r4-r11, lr}\n ldrd r8, r9, [sp, #36]\n mov r5, r3\n ldr r3, [sp, #44]\n"
                 "sub r4, r5, r8\n sub r2, r2, r4\n add lr, r0, r8, lsl #1\n"
                 "rsb r6, r8, #0\n ubfx r6, r6, #3, #" TINYATTN_BITS_OF_TURN "\n movs r7, #76\n"
                 "adr.w r11, 1f\n mla r6, r6, r7, r11\n add r7, r3, r9, lsl #2\n subs r7, #4\n"
                 "add r12, lr, r8, lsl #1\n ldr r11, [r12, #-4]\n mov r12, r11\n"
                 "sub sp, #12\n push {r0, r4-r7, r11, r12}\n b 2f\n"
                 "1: " TINYATTN_TURN "cmp r0, lr\n bne 1b\n strd r11, r12, [r3], #8\n"
                 "2: ldm sp, {r0, r4-r7, r11, r12}\n"
                 "add r1, r2, r4\n add r2, r1, r5\n cmp r3, r7\n bhs 3f\n mov pc, r6\n"
                 "3: bhi 4f\n mov r2, r1\n str r3, [sp, #36]\n"
                 "add r3, sp, #28\n str r3, [sp, #16]\n mov pc, r6\n"
                 "4: add r3, sp, #28\n cmp r3, r7\n bne 5f\n"
                 "ldr r4, [sp, #28]\n ldr r5, [sp, #36]\n str r4, [r5]\n"
                 "5: add sp, #40\n pop {r4-r11, pc}");
  }
#undef TINYATTN_BITS_OF_TURN
#undef TINYATTN_TURN
#undef TINYATTN_EIGHT
#undef TINYATTN_COLUMN

#if !defined(__OPTIMIZE_SIZE__)
  // Four rows of one column: sums in r10 to r12 and lr, rows at r0 to r3, codes at r4. After the
  // words to load for each column, the stack has the next sum, the distance to the next row's sum,
  // and the end of the first row.
#define TINYATTN_ROW(from, codes, sum)                                                            \
  "ldrd r8, r9, [" from "], #8\n"                                                                 \
  "smlad " sum ", r8, r7, " sum "\n smlad " sum ", r9, " codes ", " sum "\n"
#define TINYATTN_FOUR(codes)                                                                      \
  "uxtb16 r7, " codes "\n uxtb16 " codes ", " codes ", ror #8\n" TINYATTN_ROW("r0", codes, "r10") \
  TINYATTN_ROW("r1", codes, "r11") TINYATTN_ROW("r2", codes, "r12") TINYATTN_ROW("r3", codes, "lr")
#define TINYATTN_EIGHT "ldrd r5, r6, [r4], #8\n" TINYATTN_FOUR("r5") TINYATTN_FOUR("r6")
  [[gnu::naked, gnu::noinline, gnu::aligned(4)]] static void dots_of_four_rows(
      const std::int32_t*, std::size_t, const std::uint8_t*, std::size_t, std::size_t, std::size_t,
      std::uint32_t*) noexcept {
    asm volatile("push {r4-r11, lr}\n ldrd r8, r9, [sp, #36]\n ldr r10, [sp, #44]\n"
                 "sub r5, r3, r8\n sub r4, r2, r5\n"
                 "lsl r11, r1, #2\n add r1, r0, r11\n add r2, r1, r11\n add r3, r2, r11\n"
                 "lsl r11, r9, #2\n add r12, r0, r8, lsl #1\n push {r10-r12}\n"
                 "adr.w r6, 1f\n tst r8, #8\n it ne\n addne r6, #116\n"
                 "add r7, r10, r11\n subs r9, r8, #1\n mov r8, r10\n"
                 "ldr r10, [r0, r9, lsl #2]\n ldr r11, [r1, r9, lsl #2]\n"
                 "ldr r12, [r2, r9, lsl #2]\n ldr lr, [r3, r9, lsl #2]\n"
                 "push {r0-r3, r5-r7, r10-r12, lr}\n b 2f\n"
                 "1: " TINYATTN_EIGHT TINYATTN_EIGHT "ldr r8, [sp, #52]\n cmp r0, r8\n bne 1b\n"
                 "ldrd r8, r9, [sp, #44]\n str r10, [r8]\n str r11, [r8, r9]\n"
                 "str r12, [r8, r9, lsl #1]\n add r9, r9, r9, lsl #1\n str lr, [r8, r9]\n"
                 "add r8, #4\n str r8, [sp, #44]\n"
                 "2: ldm sp, {r0-r3, r5-r7, r10-r12, lr}\n"
                 "add r4, r5\n cmp r8, r7\n beq 3f\n mov pc, r6\n"
                 "3: add sp, #56\n pop {r4-r11, pc}");
  }
#undef TINYATTN_EIGHT
#undef TINYATTN_FOUR
#undef TINYATTN_ROW
#endif
#undef TINYATTN_HALF
  // clang-format on
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
