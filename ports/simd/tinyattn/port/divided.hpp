// SPDX-License-Identifier: MIT
//
// a / b, rounded once. The division is an asm statement: -freciprocal-math, for which Clang has no
// macro, would replace any other division by a product with an estimate of 1 / b.
#pragma once

#include "tinyattn/port/compiler.hpp"

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE { namespace detail {

TINYATTN_ALWAYS_INLINE constexpr float divided(float a, float b) noexcept {
  if (__builtin_is_constant_evaluated()) return a / b;
#if defined(__wasm__)
  asm("local.get %1\n\tlocal.get %2\n\tf32.div\n\tlocal.set %0" : "=r"(a) : "r"(a), "r"(b));
#elif defined(__AVX__)
  asm("vdivss {%1, %0, %0|%0, %0, %1}" : "+x"(a) : "x"(b));
#elif defined(__SSE__)
  asm("divss {%1, %0|%0, %1}" : "+x"(a) : "x"(b));
#elif defined(__aarch64__)
  asm("fdiv %s0, %s0, %s1" : "+w"(a) : "w"(b));
#elif defined(__ARM_FP) && (__ARM_FP & 4)
  asm("vdiv.f32 %0, %0, %1" : "+t"(a) : "t"(b));
#elif defined(__riscv_flen)
  asm("fdiv.s %0, %0, %1" : "+f"(a) : "f"(b));
#else
  a = a / b;
#endif
  return a;
}

}}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE::detail
