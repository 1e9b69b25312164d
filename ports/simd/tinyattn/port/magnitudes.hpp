// SPDX-License-Identifier: MIT
//
// The largest magnitude of a row of floats, in the core registers of a Cortex-M with Thumb-2.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct magnitudes {
#if defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && \
    !defined(__OPTIMIZE_SIZE__)  // else loops take less flash
  // The maximum of the bits of |x[k]|: eight elements at a time, after the elements that exceed a
  // multiple of eight. A new maximum is rare, so it is taken out of line.
  // clang-format off
#define TINYATTN_TAKE(x, at) "cmp r1, " x ", lsl #1\n blo " at "1f\n " at "2:\n"
#define TINYATTN_TAKEN(x, at) at "1: lsls r1, " x ", #1\n b " at "2b\n"
  [[gnu::naked, gnu::noinline]] static std::uint32_t magnitude_bits(const float*,
                                                                    std::size_t) noexcept {
    asm volatile("push {r4-r9}\n add r12, r0, r1, lsl #2\n lsls r3, r1, #29\n mov r1, #0\n"
                 "beq 2f\n"
                 "1: ldr r2, [r0], #4\n cmp r1, r2, lsl #1\n it lo\n lsllo r1, r2, #1\n"
                 "subs r3, #0x20000000\n bne 1b\n"
                 "2: cmp r0, r12\n beq 4f\n .balign 4\n"
                 "3: ldmia r0!, {r2-r9}\n" TINYATTN_TAKE("r2", "2") TINYATTN_TAKE("r3", "3")
                 TINYATTN_TAKE("r4", "4") TINYATTN_TAKE("r5", "5") TINYATTN_TAKE("r6", "6")
                 TINYATTN_TAKE("r7", "7") TINYATTN_TAKE("r8", "8") TINYATTN_TAKE("r9", "9")
                 "cmp r0, r12\n bne 3b\n"
                 "4: lsrs r0, r1, #1\n pop {r4-r9}\n bx lr\n"
                 TINYATTN_TAKEN("r2", "2") TINYATTN_TAKEN("r3", "3") TINYATTN_TAKEN("r4", "4")
                 TINYATTN_TAKEN("r5", "5") TINYATTN_TAKEN("r6", "6") TINYATTN_TAKEN("r7", "7")
                 TINYATTN_TAKEN("r8", "8") TINYATTN_TAKEN("r9", "9"));
  }
#undef TINYATTN_TAKEN
#undef TINYATTN_TAKE
  // clang-format on
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
