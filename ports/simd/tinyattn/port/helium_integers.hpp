// SPDX-License-Identifier: MIT
//
// Sums of products of integers for Helium: VMLADAVA adds eight products of halfwords to a core
// register; compilers use it for one sum at a time, and not in a hardware loop.
#pragma once

#include "tinyattn/port/compiler.hpp"
#include "tinyattn/port/score_block.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct helium_integers {
#if defined(__ARM_FEATURE_MVE)
  // Naked functions, because all registers are in use, a frame pointer's too, and builds without
  // optimization compile them as well. Sums are in even registers, as VMLADAVA requires, and
  // addresses of codes in r1 to r7, as VLDRB does. VMLADAV begins a sum.
  static constexpr std::size_t integer_rows = 3;

  template <std::size_t Rows>
  requires(Rows == 1 || Rows == 3) TINYATTN_ALWAYS_INLINE
      static void integer_dots(const std::int32_t* q, std::size_t q_stride,
                               const std::uint8_t* codes, std::size_t stride, std::size_t terms,
                               std::size_t cols, std::uint32_t* sums) noexcept {
    if constexpr (Rows == 1) {
      if (terms == 8) {
        dots_of_eights(q, codes, stride, sums, cols);
      } else if (terms == 16) {
        dots_of_sixteens(q, codes, stride, sums, cols);
      } else if (terms == 32) {
        dots_of_thirty_twos(q, codes, stride, sums, cols);
      } else if (terms == 64) {
        dots_of_sixty_fours(q, codes, stride, sums, cols);
      } else if (cols >= 4) {
        // The last four columns may overlap the ones before.
        const std::size_t four = cols - cols % 4, last = cols - 4;
        dots_of_fours(q, codes, stride, terms, sums, sums + (four - 4));
        if (four != cols)
          dots_of_fours(q, codes + last * stride, stride, terms, sums + last, sums + last);
      } else {
        for (std::size_t j = 0; j < cols; ++j) {
          std::uint32_t same[4];
          dots_of_fours(q, codes + j * stride, 0, terms, same, same);
          sums[j] = same[0];
        }
      }
    } else if (cols == 1) {
      for (std::size_t r = 0; r < Rows; ++r)
        integer_dots<1>(q + r * q_stride, q_stride, codes, stride, terms, 1, sums + r);
    } else {
      const std::size_t last = cols - 2;
      dots_of_three_rows(q, codes, sums, sums + (last & ~std::size_t{1}), stride, terms,
                         q_stride * 4, cols * 4);
      if (cols % 2 != 0)
        dots_of_three_rows(q, codes + last * stride, sums + last, sums + last, stride, terms,
                           q_stride * 4, cols * 4);
    }
  }

  // Halfwords in order.
  [[gnu::naked, gnu::noinline]] static void pack_row(std::int32_t*, std::size_t) noexcept {
    // clang-format off
    asm volatile("push {r7, lr}\n lsrs r1, r1, #3\n mov r3, r0\n dls lr, r1\n"
                 "1: vldrw.u32 q0, [r3], #16\n vldrw.u32 q1, [r3], #16\n"
                 "vstrh.32 q0, [r0], #8\n vstrh.32 q1, [r0], #8\n le lr, 1b\n pop {r7, pc}");
    // clang-format on
  }

  [[gnu::naked, gnu::noinline]] static std::uint32_t magnitude_bits(const float*,
                                                                    std::size_t) noexcept {
    // clang-format off
    asm volatile("push {r7, lr}\n vmov.i32 q0, #0\n wlstp.32 lr, r1, 2f\n"
                 "1: vldrw.u32 q1, [r0], #16\n vbic.i32 q1, #0x80000000\n vmax.u32 q0, q0, q1\n"
                 "letp lr, 1b\n"
                 "2: movs r0, #0\n vmaxv.u32 r0, q0\n pop {r7, pc}");
    // clang-format on
  }
  static std::uint32_t round_and_pack(const float* x, std::size_t count, float steps_of_one,
                                      std::int32_t* q, std::size_t terms) noexcept {
    return round_by(x, count, __builtin_bit_cast(std::uint32_t, steps_of_one), q, terms);
  }
  static void scale_sums(const std::uint32_t* sums, std::uint32_t addend, const float* scales,
                         float step, const float* bias, float* out, std::size_t count) noexcept {
    scale_by(sums, addend, scales, __builtin_bit_cast(std::uint32_t, step), bias, out, count);
  }
  static void scale_all(const std::uint32_t* sums, std::uint32_t addend, float scale, float* out,
                        std::size_t count) noexcept {
    scale_alike(sums, addend, __builtin_bit_cast(std::uint32_t, scale), out, count);
  }

  // clang-format off
  // The fields of the block are in r1 to r12: the maxima from r10 on.
  [[gnu::naked, gnu::noinline]] static void find_scores(score_block&) noexcept {
    asm volatile("push {r4-r11, lr}\n ldm r0!, {r1-r8}\n ldm r0, {r9-r12}\n"
                 "rsbs r7, r7, #0\n dlstp.32 lr, r5\n"
                 "1: vldrw.u32 q0, [r1], #16\n vadd.i32 q0, q0, r9\n vldrb.u32 q1, [r3], #4\n"
                 "vrshl.s32 q0, r7\n"
                 "vldrb.u32 q2, [r4], #4\n vmaxv.u32 r11, q1\n vshr.u32 q3, q1, #3\n"
                 "vmaxv.u32 r12, q2\n vbic.i32 q1, #0xf8\n vldrw.u32 q2, [r6, q1, uxtw #2]\n"
                 "vsub.i32 q3, q3, r8\n vmul.i32 q0, q0, q2\n vshl.s32 q0, q0, q3\n"
                 "vmaxv.s32 r10, q0\n vstrw.32 q0, [r2], #16\n letp lr, 1b\n"
                 "strd r10, r11, [r0, #4]\n str r12, [r0, #12]\n pop {r4-r11, pc}");
  }
  // Writes the codes of a row of floats, `step` apart. A left-aligned mantissa is shifted right by
  // `places` minus its exponent, at most by 63.
  [[gnu::naked, gnu::noinline]] static void encode(const float*, std::size_t, std::uint8_t*,
                                                   std::size_t, std::uint32_t,
                                                   std::uint32_t) noexcept {
    asm volatile("push {r4-r6, lr}\n ldrd r4, r5, [sp, #16]\n subs r4, #63\n movs r6, #63\n"
                 "mov r12, #0\n vidup.u32 q3, r12, #1\n vmul.i32 q3, q3, r3\n"
                 "lsls r3, r3, #2\n mov r12, #128\n dlstp.32 lr, r1\n"
                 "1: vldrw.u32 q0, [r0], #16\n vshl.i32 q1, q0, #1\n vshl.i32 q2, q0, #8\n"
                 "vshr.u32 q1, q1, #24\n vorr.i32 q2, #0x80000000\n vqsub.u32 q1, q1, r4\n"
                 "vsub.i32 q1, q1, r6\n vshr.s32 q0, q0, #31\n vshl.u32 q2, q2, q1\n"
                 "vmul.i32 q2, q2, r5\n vorr.i32 q0, #1\n vrshr.u32 q2, q2, #21\n"
                 "vmlas.s32 q2, q0, r12\n vstrb.32 q2, [r2, q3]\n"
                 "add r2, r3\n letp lr, 1b\n pop {r4-r6, pc}");
  }
  // q0 is by how much a score is below the largest, inverted: at most 0xffff, from where on a power
  // is 0. The sums are in r6 and r2.
  [[gnu::naked, gnu::noinline]] static std::uint64_t weigh(std::int32_t*, const std::uint8_t*,
                                                           std::size_t, std::uint32_t,
                                                           std::uint32_t, std::uint32_t,
                                                           const std::uint32_t*) noexcept {
    asm volatile("push {r4-r6, lr}\n vpush {d8-d11}\n ldrd r5, r4, [sp, #48]\n"
                 "ldr r12, [sp, #56]\n adds r3, #1\n mvns r4, r4\n subs r4, #3\n"
                 "vmov.i32 q4, #31\n vmvn.i32 q5, #0xffff\n movs r6, #0\n"
                 "wlstp.32 lr, r2, 2f\n movs r2, #0\n"
                 "1: vldrw.u32 q0, [r0]\n vsub.i32 q0, q0, r3\n vmax.u32 q0, q0, q5\n"
                 "vshr.s32 q1, q0, #5\n vbic q1, q4, q1\n vldrw.u32 q2, [r12, q1, uxtw #2]\n"
                 "vbic q3, q4, q0\n vorr.i32 q3, #0x100000\n vshr.u32 q1, q2, #20\n"
                 "vmul.i32 q3, q3, q1\n vshr.s32 q0, q0, #10\n vldrb.u32 q1, [r1], #4\n"
                 "vsub.i32 q2, q2, q3\n vadd.i32 q0, q0, r4\n vshr.u32 q3, q1, #3\n"
                 "vshl.u32 q2, q2, q0\n vbic.i32 q1, #0xf8\n vaddva.u32 r6, q2\n"
                 "vorr.i32 q1, #8\n vmul.i32 q1, q1, q2\n vsub.i32 q3, q3, r5\n"
                 "vrshl.u32 q1, q1, q3\n vaddva.u32 r2, q1\n vstrw.32 q1, [r0], #16\n"
                 "letp lr, 1b\n"
                 "2: mov r0, r6\n mov r1, r2\n vpop {d8-d11}\n pop {r4-r6, pc}");
  }
  // clang-format on

 private:
  // Hardware loops, the last step of which is a partial vector. Floats are in core registers.
  // clang-format off

  // The zeros after the row come first.
  [[gnu::naked, gnu::noinline]] static std::uint32_t round_by(const float*, std::size_t,
                                                              std::uint32_t, std::int32_t*,
                                                              std::size_t) noexcept {
    asm volatile("push {r7, lr}\n ldr r12, [sp, #8]\n"
                 "subs r12, r12, r1\n add r1, r3, r1, lsl #1\n vmov.i32 q0, #0\n"
                 "wlstp.16 lr, r12, 2f\n"
                 "1: vstrh.16 q0, [r1], #16\n letp lr, 1b\n"
                 "2: ldr r1, [sp, #8]\n sub r1, r1, r12\n mov r12, #0\n wlstp.32 lr, r1, 4f\n"
                 "3: vldrw.u32 q0, [r0], #16\n vmul.f32 q0, q0, r2\n vcvtn.s32.f32 q0, q0\n"
                 "vstrh.32 q0, [r3], #8\n vaddva.s32 r12, q0\n letp lr, 3b\n"
                 "4: lsl r0, r12, #7\n negs r0, r0\n pop {r7, pc}");
  }
  [[gnu::naked, gnu::noinline]] static void scale_alike(const std::uint32_t*, std::uint32_t,
                                                        std::uint32_t, float*,
                                                        std::size_t) noexcept {
    asm volatile("push {r7, lr}\n ldr r12, [sp, #8]\n wlstp.32 lr, r12, 2f\n"
                 "1: vldrw.u32 q0, [r0], #16\n vadd.i32 q0, q0, r1\n vcvt.f32.s32 q0, q0\n"
                 "vmul.f32 q0, q0, r2\n vstrw.32 q0, [r3], #16\n letp lr, 1b\n"
                 "2: pop {r7, pc}");
  }
#define TINYATTN_PRODUCTS                                                                         \
  "vldrw.u32 q0, [r0], #16\n vadd.i32 q0, q0, r1\n vldrw.u32 q1, [r2], #16\n"                     \
  "vcvt.f32.s32 q0, q0\n vmul.f32 q1, q1, r3\n"
  [[gnu::naked, gnu::noinline]] static void scale_by(const std::uint32_t*, std::uint32_t,
                                                     const float*, std::uint32_t, const float*,
                                                     float*, std::size_t) noexcept {
    asm volatile("push {r4, lr}\n ldrd r4, r12, [sp, #8]\n ldr lr, [sp, #16]\n cbz r4, 2f\n"
                 "wlstp.32 lr, lr, 4f\n"
                 "1: " TINYATTN_PRODUCTS "vldrw.u32 q2, [r4], #16\n vfma.f32 q2, q0, q1\n"
                 "vstrw.32 q2, [r12], #16\n letp lr, 1b\n pop {r4, pc}\n"
                 "2: wlstp.32 lr, lr, 4f\n"
                 "3: " TINYATTN_PRODUCTS "vmul.f32 q0, q0, q1\n vstrw.32 q0, [r12], #16\n"
                 "letp lr, 3b\n"
                 "4: pop {r4, pc}");
  }
#undef TINYATTN_PRODUCTS
  // clang-format on

  // clang-format off
  // Columns of 8, 16, 32 or 64 codes. The row stays in registers, but for the last 16 of 64.
#define TINYATTN_ROW(at, row) "vldrh.u16 " row ", [r0, #" at "]\n"
#define TINYATTN_EIGHT(sum, at, row) "vldrb.u16 q3, [r1, #" at "]\n " sum ".s16 r12, " row ", q3\n"
#define TINYATTN_FIRST(at, row) "add r1, r2\n" TINYATTN_EIGHT("vmladav", at, row)
#define TINYATTN_NEXT(at, row) TINYATTN_EIGHT("vmladava", at, row)
#define TINYATTN_COLUMNS(rows, sum)                                                               \
  "push {r7, lr}\n ldr r12, [sp, #8]\n sub r1, r2\n" rows                                         \
  "dls lr, r12\n 1: " sum "str r12, [r3], #4\n le lr, 1b\n"
  [[gnu::naked, gnu::noinline]] static void dots_of_eights(
      const std::int32_t*, const std::uint8_t*, std::size_t, std::uint32_t*, std::size_t) noexcept {
    asm volatile(TINYATTN_COLUMNS(TINYATTN_ROW("0", "q0"), TINYATTN_FIRST("0", "q0"))
                 "pop {r7, pc}");
  }
  [[gnu::naked, gnu::noinline]] static void dots_of_sixteens(
      const std::int32_t*, const std::uint8_t*, std::size_t, std::uint32_t*, std::size_t) noexcept {
    asm volatile(TINYATTN_COLUMNS(TINYATTN_ROW("0", "q0") TINYATTN_ROW("16", "q1"),
                                  TINYATTN_FIRST("0", "q0") TINYATTN_NEXT("8", "q1"))
                 "pop {r7, pc}");
  }
#define TINYATTN_32                                                                               \
  TINYATTN_ROW("0", "q0") TINYATTN_ROW("16", "q1") TINYATTN_ROW("32", "q2") TINYATTN_ROW("48", "q4")
  [[gnu::naked, gnu::noinline]] static void dots_of_thirty_twos(
      const std::int32_t*, const std::uint8_t*, std::size_t, std::uint32_t*, std::size_t) noexcept {
    asm volatile(TINYATTN_COLUMNS("vpush {d8-d9}\n" TINYATTN_32,
                                  TINYATTN_FIRST("0", "q0") TINYATTN_NEXT("8", "q1")
                                  TINYATTN_NEXT("16", "q2") TINYATTN_NEXT("24", "q4"))
                 "vpop {d8-d9}\n pop {r7, pc}");
  }
  [[gnu::naked, gnu::noinline]] static void dots_of_sixty_fours(
      const std::int32_t*, const std::uint8_t*, std::size_t, std::uint32_t*, std::size_t) noexcept {
    asm volatile(TINYATTN_COLUMNS("vpush {d8-d15}\n" TINYATTN_32
                                  TINYATTN_ROW("64", "q5") TINYATTN_ROW("80", "q6"),
                                  TINYATTN_ROW("96", "q7") TINYATTN_FIRST("48", "q7")
                                  TINYATTN_ROW("112", "q7") TINYATTN_NEXT("56", "q7")
                                  TINYATTN_NEXT("0", "q0") TINYATTN_NEXT("8", "q1")
                                  TINYATTN_NEXT("16", "q2") TINYATTN_NEXT("24", "q4")
                                  TINYATTN_NEXT("32", "q5") TINYATTN_NEXT("40", "q6"))
                 "vpop {d8-d15}\n pop {r7, pc}");
  }
#undef TINYATTN_32
#undef TINYATTN_COLUMNS
#undef TINYATTN_NEXT
#undef TINYATTN_FIRST
#undef TINYATTN_EIGHT
#undef TINYATTN_ROW

  // At least 24 terms. Four sums in r0, r2, r4 and r6, over four columns at a time, at r1, r3, r5
  // and r7. r8 points to q, r10 to the sums, r11 to the last four of them; r9 is the distance from
  // the end of a column to its next one. The stack has the row and its steps but one.
#define TINYATTN_EIGHT(sums, then)                                                                \
  "vldrh.u16 q0, [r8], #16\n" then "vldrb.u16 q1, [r1], #8\n " sums ".s16 r0, q0, q1\n"           \
  "vldrb.u16 q2, [r3], #8\n " sums ".s16 r2, q0, q2\n vldrb.u16 q3, [r5], #8\n"                   \
  sums ".s16 r4, q0, q3\n vldrb.u16 q1, [r7], #8\n " sums ".s16 r6, q0, q1\n"
  [[gnu::naked, gnu::noinline]] static void dots_of_fours(const std::int32_t*, const std::uint8_t*,
                                                          std::size_t, std::size_t, std::uint32_t*,
                                                          std::uint32_t*) noexcept {
    asm volatile("push {r4-r11, lr}\n ldrd r10, r11, [sp, #36]\n rsb r9, r3, r2, lsl #2\n"
                 "mov r8, r0\n lsr lr, r3, #3\n sub lr, #1\n push {r8, lr}\n"
                 "add r3, r1, r2\n add r5, r3, r2\n add r7, r5, r2\n"
                 "1: " TINYATTN_EIGHT("vmladav", "cmp r10, r11\n")
                 "2: " TINYATTN_EIGHT("vmladava", "") "le lr, 2b\n"
                 "vmov q0[2], q0[0], r0, r4\n vmov q0[3], q0[1], r2, r6\n ldrd r8, lr, [sp]\n"
                 "vstrw.32 q0, [r10], #16\n add r1, r9\n add r3, r9\n add r5, r9\n add r7, r9\n"
                 "bne 1b\n add sp, #8\n pop {r4-r11, pc}");
  }
#undef TINYATTN_EIGHT

  // At least 16 terms. Three rows, at r5, r7 and r9, of two columns, at r1 and r3. Sums are in the
  // even registers up to r10. r12 points to the sums of the first row; r11 is the distance to those
  // of the next, the last argument. The stack has the rows, their steps but two, the distance from
  // the end of a column to the next but one, and the last two sums. Loads and products alternate:
  // the first two loads of a step are in the step before, so that the last step is apart.
#define TINYATTN_CODES "vldrb.u16 q0, [r1], #8\n"
#define TINYATTN_ROW "vldrh.u16 q2, [r5], #16\n"
#define TINYATTN_STEP(sums, then, codes, row)                                                     \
  sums ".s16 r0, q0, q2\n vldrb.u16 q1, [r3], #8\n " sums ".s16 r2, q1, q2\n"                     \
  "vldrh.u16 q3, [r7], #16\n " sums ".s16 r4, q0, q3\n vldrh.u16 q2, [r9], #16\n"                 \
  sums ".s16 r6, q1, q3\n" then sums ".s16 r8, q0, q2\n" codes                                    \
  sums ".s16 r10, q1, q2\n" row
  [[gnu::naked, gnu::noinline]] static void dots_of_three_rows(const std::int32_t*,
                                                               const std::uint8_t*, std::uint32_t*,
                                                               std::uint32_t*, std::size_t,
                                                               std::size_t, std::size_t,
                                                               std::size_t) noexcept {
    asm volatile("push {r4-r11, lr}\n add r12, sp, #36\n ldm r12, {r4, r6, r8, r11}\n"
                 "mov r12, r2\n mov r5, r0\n add r7, r5, r8\n add r9, r7, r8\n"
                 "rsb r2, r6, r4, lsl #1\n lsr lr, r6, #3\n sub lr, #2\n"
                 "push {r2, r3}\n push {r5, r7, r9, lr}\n add r3, r1, r4\n"
                 "1: " TINYATTN_CODES "ldr r8, [sp, #20]\n" TINYATTN_ROW
                 TINYATTN_STEP("vmladav", "cmp r12, r8\n", TINYATTN_CODES, TINYATTN_ROW)
                 "wls lr, lr, 3f\n"
                 "2: " TINYATTN_STEP("vmladava", "", TINYATTN_CODES, TINYATTN_ROW) "le lr, 2b\n"
                 "3: " TINYATTN_STEP("vmladava", "ldr r5, [sp, #16]\n", "add r1, r5\n",
                                     "add r3, r5\n")
                 "strd r0, r2, [r12], #8\n add r9, r12, r11\n strd r4, r6, [r9, #-8]\n"
                 "add r9, r11\n strd r8, r10, [r9, #-8]\n ldm sp, {r5, r7, r9, lr}\n bne 1b\n"
                 "add sp, #24\n pop {r4-r11, pc}");
  }
#undef TINYATTN_STEP
#undef TINYATTN_ROW
#undef TINYATTN_CODES
  // clang-format on
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
