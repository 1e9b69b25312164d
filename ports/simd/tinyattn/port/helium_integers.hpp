// SPDX-License-Identifier: MIT
//
// Sums of products of integers for Helium: VMLADAVA adds eight products of halfwords to a core
// register; compilers use it for one sum at a time, and not in a hardware loop.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct helium_integers {
#if defined(__ARM_FEATURE_MVE)
  // Naked functions, because all registers are in use, a frame pointer's too, and builds without
  // optimization compile them as well. Loops are entered in the middle if there are fewer terms, so
  // all instructions of their bodies have four bytes, and functions are aligned, as ADR requires.
  // Sums are in even registers, as VMLADAVA requires, and addresses of codes in r1 to r7, as VLDRB
  // does.
  static constexpr std::size_t integer_rows = 4;

  template <std::size_t Rows>
  requires(Rows == 1 || Rows == 4) TINYATTN_ALWAYS_INLINE
      static void integer_dots(const std::int32_t* q, std::size_t q_stride,
                               const std::uint8_t* codes, std::size_t stride, std::size_t terms,
                               std::size_t cols, std::uint32_t* sums) noexcept {
    if constexpr (Rows == 1) {
      if (cols >= 4) {
        // The last four columns may overlap the ones before.
        const std::size_t four = cols - cols % 4, last = cols - 4;
        dots_of_fours(q, codes, stride, terms, sums, sums + four);
        if (four != cols)
          dots_of_fours(q, codes + last * stride, stride, terms, sums + last, sums + cols);
      } else {
        for (std::size_t j = 0; j < cols; ++j) {
          std::uint32_t same[4];
          dots_of_fours(q, codes + j * stride, 0, terms, same, same + 4);
          sums[j] = same[0];
        }
      }
    } else if (cols == 1) {
      for (std::size_t r = 0; r < Rows; ++r)
        integer_dots<1>(q + r * q_stride, q_stride, codes, stride, terms, 1, sums + r);
    } else {
      const Tile tile{stride, terms, q_stride * 4, cols * 4};
      const std::size_t last = cols - 2;
      dots_of_four_rows(q, codes, sums, sums + (cols & ~std::size_t{1}), tile);
      if (cols % 2 != 0)
        dots_of_four_rows(q, codes + last * stride, sums + last, sums + cols, tile);
    }
  }

  // Halfwords in order. The start of the sums goes into the last of the words that this frees.
  [[gnu::naked, gnu::noinline]] static void pack_row(std::int32_t*, std::size_t,
                                                     std::uint32_t) noexcept {
    // clang-format off
    asm volatile("push {r7, lr}\n add r12, r0, r1, lsl #2\n lsrs r1, r1, #3\n mov r3, r0\n"
                 "dls lr, r1\n"
                 "1: vldrw.u32 q0, [r3], #16\n vldrw.u32 q1, [r3], #16\n"
                 "vstrh.32 q0, [r0], #8\n vstrh.32 q1, [r0], #8\n le lr, 1b\n"
                 "str r2, [r12, #-4]\n pop {r7, pc}");
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
  static void round_and_pack(const float* x, std::size_t count, float steps_of_one, std::int32_t* q,
                             std::size_t terms) noexcept {
    round_by(x, count, __builtin_bit_cast(std::uint32_t, steps_of_one), q, terms);
  }
  // No addend: sums begin with it.
  static void scale_sums(const std::uint32_t* sums, std::uint32_t, const float* scales, float step,
                         const float* bias, float* out, std::size_t count) noexcept {
    scale_by(sums, count, scales, __builtin_bit_cast(std::uint32_t, step), bias, out);
  }

 private:
  // Hardware loops, the last step of which is a partial vector. Floats are in core registers.
  // clang-format off

  // The zeros after the row come first.
  [[gnu::naked, gnu::noinline]] static void round_by(const float*, std::size_t, std::uint32_t,
                                                     std::int32_t*, std::size_t) noexcept {
    asm volatile("push {r4, lr}\n ldr r12, [sp, #8]\n add r4, r3, r12, lsl #2\n"
                 "subs r12, r12, r1\n add r1, r3, r1, lsl #1\n vmov.i32 q0, #0\n"
                 "wlstp.16 lr, r12, 2f\n"
                 "1: vstrh.16 q0, [r1], #16\n letp lr, 1b\n"
                 "2: ldr r1, [sp, #8]\n sub r1, r1, r12\n mov r12, #0\n wlstp.32 lr, r1, 4f\n"
                 "3: vldrw.u32 q0, [r0], #16\n vmul.f32 q0, q0, r2\n vcvtn.s32.f32 q0, q0\n"
                 "vaddva.s32 r12, q0\n vstrh.32 q0, [r3], #8\n letp lr, 3b\n"
                 "4: lsl r12, r12, #7\n rsb r12, r12, #0\n str r12, [r4, #-4]\n pop {r4, pc}");
  }
#define TINYATTN_PRODUCTS                                                                         \
  "vldrw.u32 q0, [r0], #16\n vldrw.u32 q1, [r2], #16\n vcvt.f32.s32 q0, q0\n"                     \
  "vmul.f32 q1, q1, r3\n"
  [[gnu::naked, gnu::noinline]] static void scale_by(const std::uint32_t*, std::size_t,
                                                     const float*, std::uint32_t, const float*,
                                                     float*) noexcept {
    asm volatile("push {r4, lr}\n ldrd r4, r12, [sp, #8]\n cbz r4, 2f\n wlstp.32 lr, r1, 4f\n"
                 "1: " TINYATTN_PRODUCTS "vldrw.u32 q2, [r4], #16\n vfma.f32 q2, q0, q1\n"
                 "vstrw.32 q2, [r12], #16\n letp lr, 1b\n pop {r4, pc}\n"
                 "2: wlstp.32 lr, r1, 4f\n"
                 "3: " TINYATTN_PRODUCTS "vmul.f32 q0, q0, q1\n vstrw.32 q0, [r12], #16\n"
                 "letp lr, 3b\n"
                 "4: pop {r4, pc}");
  }
#undef TINYATTN_PRODUCTS
  // clang-format on

  struct Tile {
    std::size_t stride, terms, q_step, row_of_sums;  // the last two in bytes
  };

  // clang-format off
  // Four sums in r0, r2, r4 and r6, over four columns at a time, at r1, r3, r5 and r7. r8 points to
  // q, r10 to the sums; r9 is the distance from the end of a column to its next one. The words to
  // load for each four columns are on the stack, in the order of their registers.
#define TINYATTN_EIGHT                                                                            \
  "vldrh.u16 q0, [r8], #16\n vldrb.u16 q1, [r1], #8\n vldrb.u16 q2, [r3], #8\n"                   \
  "vmladava.s16 r0, q0, q1\n vldrb.u16 q3, [r5], #8\n vmladava.s16 r2, q0, q2\n"                  \
  "vldrb.u16 q1, [r7], #8\n vmladava.s16 r4, q0, q3\n vmladava.s16 r6, q0, q1\n"
#if defined(__OPTIMIZE_SIZE__)
#define TINYATTN_TURN TINYATTN_EIGHT TINYATTN_EIGHT
#define TINYATTN_BITS_OF_TURN "1"
#define TINYATTN_TURNS "add lr, r3, #15\n lsr lr, lr, #4\n"
#else
#define TINYATTN_TURN TINYATTN_EIGHT TINYATTN_EIGHT TINYATTN_EIGHT TINYATTN_EIGHT
#define TINYATTN_BITS_OF_TURN "2"
#define TINYATTN_TURNS "add lr, r3, #31\n lsr lr, lr, #5\n"
#endif
  [[gnu::naked, gnu::noinline, gnu::aligned(4)]] static void dots_of_fours(
      const std::int32_t*, const std::uint8_t*, std::size_t, std::size_t, std::uint32_t*,
      std::uint32_t*) noexcept {
    asm volatile("push {r4-r11, lr}\n ldrd r10, r11, [sp, #36]\n mov r8, r0\n"
                 "add r0, r0, r3, lsl #2\n ldr r0, [r0, #-4]\n"
                 "rsb r9, r3, r2, lsl #2\n sub r1, r1, r9\n"
                 "negs r4, r3\n ubfx r4, r4, #3, #" TINYATTN_BITS_OF_TURN "\n movs r5, #36\n"
                 "adr.w r12, 1f\n mla r12, r4, r5, r12\n" TINYATTN_TURNS
                 "add r3, r1, r2\n add r5, r3, r2\n add r7, r5, r2\n"
                 "mov r2, r0\n mov r4, r0\n mov r6, r0\n push {r0, r2, r4, r6, r8, lr}\n b 2f\n"
                 "1: " TINYATTN_TURN "le lr, 1b\n stm r10!, {r0, r2, r4, r6}\n"
                 "2: ldm sp, {r0, r2, r4, r6, r8, lr}\n"
                 "add r1, r9\n add r3, r9\n add r5, r9\n add r7, r9\n"
                 "cmp r10, r11\n beq 3f\n mov pc, r12\n"
                 "3: add sp, #24\n pop {r4-r11, pc}");
  }
#undef TINYATTN_TURNS
#undef TINYATTN_BITS_OF_TURN
#undef TINYATTN_TURN
#undef TINYATTN_EIGHT

  // Four rows, at r5, r7, r9 and r11, of two columns, at r1 and r3. Sums are in all even registers
  // and lr, so that s16 counts turns, down by s17 from s18. After the words to load for two
  // columns, the stack has from 48 on: the next sum, the distance to the next row's sum, the end of
  // the sums, the distance from the end of a column to its next one, and where the loop is entered.
#define TINYATTN_ROW(q, from, sum, next)                                                          \
  "vldrh.u16 " q ", [" from "], #16\n vmladava.s16 " sum ", q0, " q "\n"                          \
  "vmladava.s16 " next ", q1, " q "\n"
#define TINYATTN_EIGHT                                                                            \
  "vldrb.u16 q0, [r1], #8\n vldrb.u16 q1, [r3], #8\n"                                             \
  TINYATTN_ROW("q2", "r5", "r0", "r2") TINYATTN_ROW("q3", "r7", "r4", "r6")                       \
  TINYATTN_ROW("q2", "r9", "r8", "r10") TINYATTN_ROW("q3", "r11", "r12", "lr")
#if defined(__OPTIMIZE_SIZE__)
#define TINYATTN_TURN TINYATTN_EIGHT TINYATTN_EIGHT
#define TINYATTN_BITS_OF_TURN "1"
#define TINYATTN_TURNS "adds r6, #15\n lsrs r6, r6, #4\n"
#else
#define TINYATTN_32 TINYATTN_EIGHT TINYATTN_EIGHT TINYATTN_EIGHT TINYATTN_EIGHT
#define TINYATTN_TURN TINYATTN_32 TINYATTN_32
#define TINYATTN_BITS_OF_TURN "3"
#define TINYATTN_TURNS "adds r6, #63\n lsrs r6, r6, #6\n"
#endif
  [[gnu::naked, gnu::noinline, gnu::aligned(4)]] static void dots_of_four_rows(const std::int32_t*,
                                                              const std::uint8_t*, std::uint32_t*,
                                                              std::uint32_t*,
                                                              const Tile&) noexcept {
    asm volatile("push {r4-r11, lr}\n vpush {d8-d9}\n ldr r12, [sp, #52]\n"
                 "ldm r12, {r4, r6, r8, r10}\n mov r5, r0\n mov r11, r3\n"
                 "rsb r12, r6, r4, lsl #1\n"
                 "negs r7, r6\n ubfx r7, r7, #3, #" TINYATTN_BITS_OF_TURN "\n movs r0, #56\n"
                 "adr.w lr, 1f\n mla lr, r7, r0, lr\n add lr, lr, #1\n"
                 "push {r2, r10-r12, lr}\n add r3, r1, r4\n"
                 "add r7, r5, r8\n add r9, r7, r8\n add r11, r9, r8\n subs r2, r6, #1\n"
                 "ldr r0, [r5, r2, lsl #2]\n ldr r4, [r7, r2, lsl #2]\n"
                 "ldr r8, [r9, r2, lsl #2]\n ldr r12, [r11, r2, lsl #2]\n" TINYATTN_TURNS
                 "vmov s18, r6\n vcvt.f32.u32 s18, s18\n vmov.f32 s17, #1.0\n"
                 "mov r2, r0\n mov r6, r4\n mov r10, r8\n mov lr, r12\n"
                 "push {r0, r2, r4-r12, lr}\n b 2f\n"
                 "1: " TINYATTN_TURN
                 "vsub.f32 s16, s16, s17\n vcmp.f32 s16, #0.0\n vmrs APSR_nzcv, fpscr\n bne 1b\n"
                 "ldrd r5, r7, [sp, #48]\n strd r0, r2, [r5], #8\n str r5, [sp, #48]\n"
                 "ldrd r0, r2, [sp, #56]\n add r1, r2\n add r3, r2\n cmp r5, r0\n"
                 "add r5, r7\n strd r4, r6, [r5, #-8]\n add r5, r7\n strd r8, r10, [r5, #-8]\n"
                 "add r5, r7\n strd r12, lr, [r5, #-8]\n beq 3f\n"
                 "2: vmov.f32 s16, s18\n ldm sp, {r0, r2, r4-r12, lr}\n ldr pc, [sp, #64]\n"
                 "3: add sp, #68\n vpop {d8-d9}\n pop {r4-r11, pc}");
  }
#undef TINYATTN_TURNS
#undef TINYATTN_BITS_OF_TURN
#undef TINYATTN_TURN
#undef TINYATTN_32
#undef TINYATTN_EIGHT
#undef TINYATTN_ROW
  // clang-format on
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
