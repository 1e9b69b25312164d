// SPDX-License-Identifier: MIT
//
// Steps of gradient descent on a Cortex-M with an FPU, four weights at a time.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct fpu_steps {
#if defined(__arm__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && \
    defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
  // Four numbers are compared as integers, each only if those before it are large enough. If one is
  // not, all four go through a core register, where small ones become 0.
  TINYATTN_ALWAYS_INLINE static std::size_t add_multiple_of_large(float a, const float* from,
                                                                  float* to, std::size_t count,
                                                                  float least) noexcept {
    const std::uint32_t twice = __builtin_bit_cast(std::uint32_t, least) << 1;
    std::uint32_t w0, w1, groups = count / 4;
    // clang-format off
    if (groups == 0) return 0;
#define TINYATTN_CUT(w) "cmp %[twice], %[" w "], lsl #1\n it hi\n movhi %[" w "], #0\n"
    asm volatile(
        "b 2f\n"
        "1: ldrd %[w0], %[w1], [%[from]]\n" TINYATTN_CUT("w0") TINYATTN_CUT("w1")
        "vmov s0, s1, %[w0], %[w1]\n"
        "ldrd %[w0], %[w1], [%[from], #8]\n" TINYATTN_CUT("w0") TINYATTN_CUT("w1")
        "vmov s2, s3, %[w0], %[w1]\n add %[from], #16\n b 3f\n"
        "2: ldrd %[w0], %[w1], [%[from]]\n cmp %[twice], %[w0], lsl #1\n it ls\n"
        "cmpls %[twice], %[w1], lsl #1\n ldrd %[w0], %[w1], [%[from], #8]\n itt ls\n"
        "cmpls %[twice], %[w0], lsl #1\n cmpls %[twice], %[w1], lsl #1\n"
        "bhi 1b\n vldmia %[from]!, {s0-s3}\n"
        "3: vldmia %[to], {s4-s7}\n vfma.f32 s4, s0, %[a]\n vfma.f32 s5, s1, %[a]\n"
        "vfma.f32 s6, s2, %[a]\n vfma.f32 s7, s3, %[a]\n vstmia %[to]!, {s4-s7}\n"
        "subs %[groups], #1\n bne 2b"
        : [from] "+&r"(from), [to] "+&r"(to), [groups] "+&l"(groups), [w0] "=&r"(w0), [w1] "=&r"(w1)
        : [twice] "r"(twice), [a] "t"(a)
        : "memory", "cc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7");
#undef TINYATTN_CUT
    // clang-format on
    return count / 4 * 4;
  }
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
