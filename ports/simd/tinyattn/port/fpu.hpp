// SPDX-License-Identifier: MIT
//
// One lane on a core that fuses multiply and add in hardware: Cortex-M4F, M7, M33, or x86 with FMA.
#pragma once

#include "tinyattn/port/scalar.hpp"

#if !defined(__ARM_FEATURE_FMA) && !defined(__FMA__) && !defined(__FP_FAST_FMAF) && !defined(__aarch64__)
#error "the port `fpu` needs a fused multiply-add: -mfpu=fpv4-sp-d16 -mfloat-abi=hard for a Cortex-M4F, -mfma on x86"
#endif

namespace tinyattn::port {

struct fpu : scalar {
  using one_lane = fpu;
  static constexpr std::size_t registers = 32;
  static constexpr std::size_t tile_vectors = 6;

  TINYATTN_ALWAYS_INLINE static float fma(float a, float b, float c) noexcept { return __builtin_fmaf(a, b, c); }
  TINYATTN_ALWAYS_INLINE static float mul(float a, float b) noexcept { return rounded(a * b); }
  TINYATTN_ALWAYS_INLINE static float add(float a, float b) noexcept { return rounded(a) + rounded(b); }

 private:
  // An empty barrier: behind it a compiler cannot see that the value was a product, so it cannot fuse it.
  TINYATTN_ALWAYS_INLINE static float rounded(float x) noexcept {
#if defined(__arm__)
    asm("" : "+t"(x));
#elif defined(__aarch64__)
    asm("" : "+w"(x));
#elif defined(__x86_64__) || defined(__i386__)
    asm("" : "+x"(x));
#else
    asm("" : "+m"(x));
#endif
    return x;
  }
};

static_assert(contract<fpu>);

}  // namespace tinyattn::port
