// SPDX-License-Identifier: MIT
//
// Softmax of a row for Helium: compilers do not keep its constants in registers, and save more
// registers than it takes.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct helium_softmax {
#if defined(__ARM_FEATURE_MVE)
  TINYATTN_ALWAYS_INLINE static void softmax_row(const float* from, float* to, std::size_t count,
                                                 float scale, const float* numbers) noexcept {
    softmax_by(from, to, count, __builtin_bit_cast(std::uint32_t, scale), numbers);
  }

 private:
  // clang-format off
  // An exponential: x is in q0, n in q1, the polynomial in q2, to whose exponent n is added. The
  // result, in q4, stays 0 where x is below the bound in q3, which a NaN is not. r2 to r11 hold the
  // largest score, the scale, and the constants in the order of their use; r12 holds the last two.
#define TINYATTN_EXPONENTIAL                                                                      \
  "vldrw.u32 q0, [r0], #16\n vsub.f32 q0, q0, r2\n vmul.f32 q0, q0, r3\n vdup.32 q1, r5\n"        \
  "vfma.f32 q1, q0, r4\n vcmp.f32 le, q3, q0\n vsub.f32 q2, q1, r5\n vfma.f32 q0, q2, r6\n"       \
  "vshl.i32 q1, q1, #23\n vfma.f32 q0, q2, r7\n vdup.32 q2, r8\n vfmas.f32 q2, q0, r9\n"          \
  "mov r12, #0x3f000000\n vfmas.f32 q2, q0, r10\n vmov.i32 q4, #0\n vfmas.f32 q2, q0, r11\n"      \
  "vfmas.f32 q2, q0, r12\n mov r12, #0x3f800000\n vfmas.f32 q2, q0, r12\n"                        \
  "vfmas.f32 q2, q0, r12\n vpst\n vaddt.i32 q4, q2, q1\n vstrw.32 q4, [r1], #16\n"
  // The sixteen lanes of the sum are in q0 to q3.
#define TINYATTN_ADD(sum) "vldrw.u32 q4, [r1], #16\n vadd.f32 " sum ", " sum ", q4\n"
#define TINYATTN_ADD_PART(sum)                                                                    \
  "vctp.32 r2\n vpst\n vldrwt.u32 q4, [r1], #16\n vadd.f32 " sum ", " sum ", q4\n"                \
  "subs r2, #4\n bls 5f\n"
  [[gnu::naked, gnu::noinline]] static void softmax_by(const float*, float*, std::size_t,
                                                       std::uint32_t, const float*) noexcept {
    asm volatile("push {r1, r2, r4-r11, lr}\n vpush {d8-d9}\n ldr r12, [sp, #60]\n"
                 "mvn r5, #0x800000\n vdup.32 q0, r5\n mov r6, r0\n wlstp.32 lr, r2, 7f\n"
                 "1: vldrw.u32 q1, [r6], #16\n vmaxnm.f32 q0, q0, q1\n letp lr, 1b\n"
                 "vmaxnmv.f32 r5, q0\n ldrd r6, r4, [r12]\n vdup.32 q3, r6\n"
                 "mov lr, r2\n mov r2, r5\n ldr r5, [r12, #48]\n"
                 "add r12, r12, #12\n ldm r12, {r6-r11}\n dlstp.32 lr, lr\n"
                 "2: " TINYATTN_EXPONENTIAL "letp lr, 2b\n"
                 "ldrd r1, r2, [sp, #16]\n vmov.i32 q0, #0\n lsr lr, r2, #4\n vmov q1, q0\n"
                 "ands r2, r2, #15\n vmov q2, q0\n vmov q3, q0\n wls lr, lr, 4f\n"
                 "3: " TINYATTN_ADD("q0") TINYATTN_ADD("q1") TINYATTN_ADD("q2") TINYATTN_ADD("q3")
                 "le lr, 3b\n"
                 "4: beq 5f\n" TINYATTN_ADD_PART("q0")
                 TINYATTN_ADD_PART("q1") TINYATTN_ADD_PART("q2") TINYATTN_ADD_PART("q3")
                 "5: vadd.f32 q0, q0, q2\n vadd.f32 q1, q1, q3\n vadd.f32 q0, q0, q1\n"
                 "vadd.f32 s0, s0, s2\n vadd.f32 s1, s1, s3\n vadd.f32 s0, s0, s1\n"
                 "vmov.f32 s1, #1.0\n vdiv.f32 s1, s1, s0\n vcmp.f32 s0, #0.0\n"
                 "vmrs APSR_nzcv, fpscr\n vpop {d8-d9}\n pop {r1, r2, r4-r11}\n vmov r3, s1\n"
                 "it eq\n moveq r3, #0\n dlstp.32 lr, r2\n"
                 "6: vldrw.u32 q0, [r1]\n vmul.f32 q0, q0, r3\n vstrw.32 q0, [r1], #16\n"
                 "letp lr, 6b\n pop {pc}\n"
                 "7: vpop {d8-d9}\n pop {r1, r2, r4-r11, pc}");
  }
#undef TINYATTN_ADD_PART
#undef TINYATTN_ADD
#undef TINYATTN_EXPONENTIAL
  // clang-format on
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
