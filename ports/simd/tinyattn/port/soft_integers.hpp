// SPDX-License-Identifier: MIT
//
// Sums of products with int8 weights on a Cortex-M without an FPU, in assembly, and the code around
// them. For each word w of four codes, the integers q0 to q3 of a row are packed to the factors of
// w and of its shifted copies,
//
//   q0 w + (q1 - 256 q0) (w >> 8) + (q2 - 256 q1) (w >> 16) + (q3 - 256 q2) (w >> 24),
//
// modulo 2^32, so that no code has to be extracted from its word.
#pragma once

#include "tinyattn/port/soft_scaling.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct soft_integers : soft_scaling {
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && !defined(__ARM_BIG_ENDIAN)
#if __ARM_ARCH_ISA_THUMB == 1 || defined(__OPTIMIZE_SIZE__)  // two rows gain little or nothing
  static constexpr std::size_t integer_rows = 1;
#else
  static constexpr std::size_t integer_rows = 2;
#endif

  [[gnu::naked, gnu::noinline]] static void pack_row(std::int32_t*, std::size_t) noexcept {
    // clang-format off
    asm volatile(
        ".syntax unified\n push {r4-r6}\n lsls r1, r1, #2\n adds r1, r1, r0\n b 2f\n"
#if __ARM_ARCH_ISA_THUMB == 1
        "1: ldmia r0!, {r2-r5}\n lsls r6, r4, #8\n subs r5, r5, r6\n lsls r6, r3, #8\n"
        "subs r4, r4, r6\n lsls r6, r2, #8\n subs r3, r3, r6\n subs r0, #16\n"
#else
        "1: ldm r0, {r2-r5}\n sub r5, r5, r4, lsl #8\n sub r4, r4, r3, lsl #8\n"
        "sub r3, r3, r2, lsl #8\n"
#endif
        "stmia r0!, {r2-r5}\n 2: cmp r0, r1\n bne 1b\n pop {r4-r6}\n bx lr\n");
    // clang-format on
  }

  // sums[r * cols + j] for one row, or for two.
  template <std::size_t Rows>
  static void integer_dots(const std::int32_t* q, std::size_t q_stride, const std::uint8_t* codes,
                           std::size_t stride, std::size_t terms, std::size_t cols,
                           std::uint32_t* sums) noexcept {
    static_assert(Rows == 1 || Rows == integer_rows);
    constexpr std::size_t columns = 4 / Rows;
    std::uint32_t *const end = sums + cols, *below = end;
    if (cols < columns) {  // each column several times
      for (; sums != end; ++sums, ++below, codes += stride) {
        std::uint32_t same[columns * Rows];
        dots_of<Rows>(q, q_stride, codes, 0, terms, same, same + columns, same + columns);
        *sums = same[0];
        if constexpr (Rows == 2) *below = same[columns];
      }
      return;
    }
    if (const std::size_t left = cols % columns; left != 0) {  // some columns twice
      dots_of<Rows>(q, q_stride, codes, stride, terms, sums, sums + columns, below);
      sums += left, below += left, codes += left * stride;
    }
    dots_of<Rows>(q, q_stride, codes, stride, terms, sums, end, below);
  }

  // Sums of one row from `sums` to `end`, and of a second row from `below` on.
  template <std::size_t Rows>
  TINYATTN_ALWAYS_INLINE static void dots_of(const std::int32_t* q,
                                             [[maybe_unused]] std::size_t q_stride,
                                             const std::uint8_t* codes, std::size_t stride,
                                             std::size_t terms, std::uint32_t* sums,
                                             std::uint32_t* end,
                                             [[maybe_unused]] std::uint32_t* below) noexcept {
#if __ARM_ARCH_ISA_THUMB == 2 && !defined(__OPTIMIZE_SIZE__)
    if constexpr (Rows == 2)
      return dots_of_rows(q, q + q_stride, codes, stride, terms, sums, end, below);
#endif
    dots_of_row(q, codes, stride, terms, sums, end);
  }
  // clang-format off
#if __ARM_ARCH_ISA_THUMB == 1
#define TINYATTN_ADD(q, sum) "muls r3, " q "\n add " sum ", r3\n"
#define TINYATTN_COLUMN(at, step, sum)                                                            \
  "ldr r2, [r1, #" at "]\n " step "\n lsrs r3, r2, #8\n" TINYATTN_ADD("r5", sum)                  \
  "lsrs r3, r2, #16\n" TINYATTN_ADD("r6", sum) "lsrs r3, r2, #24\n" TINYATTN_ADD("r7", sum)       \
  "muls r2, r4\n add " sum ", r2\n"
#define TINYATTN_THREE(at, step, a, b, c)                                                         \
  TINYATTN_COLUMN(at, step, a) TINYATTN_COLUMN(at, step, b) TINYATTN_COLUMN(at, step, c)
#define TINYATTN_EIGHT                                                                            \
  "ldmia r0!, {r4-r7}\n" TINYATTN_THREE("0", "add r1, r12", "r8", "r9", "r10")                    \
  TINYATTN_COLUMN("0", "", "r11") "ldmia r0!, {r4-r7}\n"                                          \
  TINYATTN_THREE("4", "add r1, lr", "r11", "r10", "r9") TINYATTN_COLUMN("4", "adds r1, #8", "r8")
  // Four columns at a time, there and back. r0 is in the row, r1 in the codes; r8 to r11 are the
  // sums, r12 is the stride, lr its negative. On the stack: the start of the row, its end, and the
  // distance from the end of a column to the next four.
  [[gnu::naked, gnu::noinline]] static void dots_of_row(const std::int32_t*, const std::uint8_t*,
                                                        std::size_t, std::size_t, std::uint32_t*,
                                                        std::uint32_t*) noexcept {
    asm volatile(
        ".syntax unified\n"
        "push {r4-r7, lr}\n mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n push {r4-r7}\n"
        "mov r12, r2\n lsls r4, r3, #2\n adds r4, r4, r0\n lsls r5, r2, #2\n subs r5, r5, r3\n"
        "rsbs r2, r2, #0\n mov lr, r2\n mov r3, r0\n push {r3-r5}\n"
        "1: ldr r0, [sp]\n movs r2, #0\n mov r8, r2\n mov r9, r2\n mov r10, r2\n mov r11, r2\n"
        "2: " TINYATTN_EIGHT "ldr r2, [sp, #4]\n cmp r0, r2\n bne 2b\n"
        "ldr r2, [sp, #48]\n mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n"
        "stmia r2!, {r4-r7}\n str r2, [sp, #48]\n ldr r3, [sp, #8]\n adds r1, r1, r3\n"
        "ldr r3, [sp, #52]\n cmp r2, r3\n bne 1b\n"
        "add sp, #12\n pop {r4-r7}\n mov r8, r4\n mov r9, r5\n mov r10, r6\n mov r11, r7\n"
        "pop {r4-r7, pc}\n");
  }
#undef TINYATTN_EIGHT
#undef TINYATTN_THREE
#undef TINYATTN_COLUMN
#undef TINYATTN_ADD
#else
#define TINYATTN_ALL(q)                                                                           \
  "mla r8, r4, " q ", r8\n mla r9, r5, " q ", r9\n mla r10, r6, " q ", r10\n"                     \
  "mla r11, r7, " q ", r11\n"
#define TINYATTN_NEXT "lsrs r4, r4, #8\n lsrs r5, r5, #8\n lsrs r6, r6, #8\n lsrs r7, r7, #8\n"
// Wide instructions begin at whole words, as the core fetches them.
#define TINYATTN_FOUR                                                                             \
  "ldr r12, [r0], #16\n ldr r4, [r1]\n ldr r5, [r1, r2]\n ldr r6, [r1, r2, lsl #1]\n"            \
  "ldr.w r7, [r1, r3]\n ldr lr, [r0, #-12]\n add.w r1, r1, #4\n" TINYATTN_ALL("r12")             \
  TINYATTN_NEXT TINYATTN_ALL("lr") TINYATTN_NEXT "ldr r12, [r0, #-8]\n ldr lr, [r0, #-4]\n"      \
  TINYATTN_ALL("r12") TINYATTN_NEXT TINYATTN_ALL("lr")
  // Four columns at a time. r0 is in the row, r1 in the codes of the first column, r2 and r3 are
  // the stride and its triple, r8 to r11 the sums. On the stack: the start of the row, its end, and
  // the distance from the end of a column to the next four.
  [[gnu::naked, gnu::noinline]] static void dots_of_row(const std::int32_t*, const std::uint8_t*,
                                                        std::size_t, std::size_t, std::uint32_t*,
                                                        std::uint32_t*) noexcept {
    asm volatile(
        "push {r4-r11, lr}\n add r4, r0, r3, lsl #2\n rsb r5, r3, r2, lsl #2\n push {r0, r4, r5}\n"
        "add r3, r2, r2, lsl #1\n"
        "1: ldr r0, [sp]\n mov r8, #0\n mov r9, #0\n mov r10, #0\n mov r11, #0\n"
        ".balign 4\n 2: " TINYATTN_FOUR TINYATTN_FOUR "ldr r4, [sp, #4]\n cmp r0, r4\n bne 2b\n"
        "ldr r4, [sp, #48]\n ldr r5, [sp, #8]\n ldr r6, [sp, #52]\n stmia r4!, {r8-r11}\n"
        "str r4, [sp, #48]\n add r1, r5\n cmp r4, r6\n bne 1b\n"
        "add sp, #12\n pop {r4-r11, pc}\n");
  }
#undef TINYATTN_FOUR
#undef TINYATTN_NEXT
#undef TINYATTN_ALL

#if !defined(__OPTIMIZE_SIZE__)
#define TINYATTN_NEXT "lsrs r4, r4, #8\n lsrs r5, r5, #8\n"
#define TINYATTN_ALL(q, p)                                                                        \
  "mla r10, r4, " q ", r10\n mla r11, r5, " q ", r11\n"                                           \
  "mla r12, r4, " p ", r12\n mla lr, r5, " p ", lr\n"
#define TINYATTN_TWO(at, next)                                                                    \
  "ldr r6, [r0, #" at "]\n ldr r7, [r0, #" next "]\n"                                             \
  "ldr r8, [r1, #" at "]\n ldr r9, [r1, #" next "]\n" TINYATTN_ALL("r6", "r8") TINYATTN_NEXT      \
  TINYATTN_ALL("r7", "r9")
#define TINYATTN_FOUR(codes, a, b, c, d)                                                          \
  "ldr r4, [r2, #" codes "]\n ldr r5, [r3, #" codes "]\n" TINYATTN_TWO(a, b) TINYATTN_NEXT        \
  TINYATTN_TWO(c, d)
  // Rows are at r0 and r1, codes at r2 and r3; r10 to r12 and lr are the sums. The words to load
  // for two columns are on the stack: both rows, the distance to the next two columns, the stride,
  // where the loop is entered, and four zeros. An odd number of eights enters it at its second
  // half, with all pointers eight terms back.
  [[gnu::naked, gnu::noinline]] static void dots_of_rows(const std::int32_t*, const std::int32_t*,
                                                         const std::uint8_t*, std::size_t,
                                                         std::size_t, std::uint32_t*,
                                                         std::uint32_t*, std::uint32_t*) noexcept {
    asm volatile(
        "push {r4-r11, lr}\n ldr r6, [sp, #36]\n add r7, r0, r6, lsl #2\n str r7, [sp, #36]\n"
        "subs r4, r3, r6\n mov r5, r3\n subs r3, r2, r4\n lsls r6, r6, #28\n adr.w r6, 2f\n"
        "bpl 4f\n subs r0, #32\n subs r1, #32\n subs r4, #8\n adr.w r6, 3f\n 4: "
        "mov r10, #0\n mov r11, #0\n mov r12, #0\n mov lr, #0\n"
        "push {r0, r1, r4-r6, r10-r12, lr}\n"
        "1: ldm sp, {r0, r1, r4-r6, r10-r12, lr}\n adds r2, r3, r4\n adds r3, r2, r5\n"
        "mov pc, r6\n .balign 4\n"
        "2: " TINYATTN_FOUR("0", "0", "4", "8", "12") TINYATTN_FOUR("4", "16", "20", "24", "28")
        ".balign 4\n 3: " TINYATTN_FOUR("8", "32", "36", "40", "44")
        TINYATTN_FOUR("12", "48", "52", "56", "60")
        "adds r0, #64\n adds r1, #64\n adds r2, #16\n adds r3, #16\n"
        "ldr r4, [sp, #72]\n cmp r0, r4\n bne 2b\n"
        "ldr r6, [sp, #84]\n strd r12, lr, [r6], #8\n str r6, [sp, #84]\n"
        "ldrd r4, r5, [sp, #76]\n strd r10, r11, [r4], #8\n str r4, [sp, #76]\n"
        "cmp r4, r5\n bne 1b\n"
        "add sp, sp, #36\n pop {r4-r11, pc}\n");
  }
#undef TINYATTN_EIGHT
#undef TINYATTN_FOUR
#undef TINYATTN_TWO
#undef TINYATTN_ALL
#undef TINYATTN_NEXT
#endif
#endif
  // clang-format on
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
