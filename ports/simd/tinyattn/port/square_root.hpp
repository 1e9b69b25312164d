// SPDX-License-Identifier: MIT
//
// The square root of a float, correctly rounded: by an instruction, or in integers if there is none
// and in constant expressions.
#pragma once

#include "tinyattn/port/sqrt_in_integers.hpp"

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE { namespace detail {

TINYATTN_ALWAYS_INLINE constexpr float square_root(float x) noexcept {
  if (__builtin_is_constant_evaluated()) return sqrt_in_integers(x);
#if defined(__wasm__)
  asm("local.get %1\n\tf32.sqrt\n\tlocal.set %0" : "=r"(x) : "r"(x));
#elif defined(__AVX__)
  asm("vsqrtss {%0, %0, %0|%0, %0, %0}" : "+x"(x));
#elif defined(__SSE__)
  asm("sqrtss {%0, %0|%0, %0}" : "+x"(x));
#elif defined(__aarch64__)
  asm("fsqrt %s0, %s0" : "+w"(x));
#elif defined(__ARM_FP) && (__ARM_FP & 4)
  asm("vsqrt.f32 %0, %0" : "+t"(x));
#elif defined(__riscv_flen)
  asm("fsqrt.s %0, %0" : "+f"(x));
#else
#define TINYATTN_SQUARE_ROOT_IN_INTEGERS  // for sqrt_by_table.hpp
  x = sqrt_in_integers(x);
#endif
  return x;
}

}}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE::detail
