// SPDX-License-Identifier: MIT
//
// An empty barrier for one float: a compiler cannot see that the value was a product, so it cannot
// contract it with an addition. It generates no instruction.
#pragma once

#include "tinyattn/port/compiler.hpp"

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE { namespace detail {

TINYATTN_ALWAYS_INLINE float rounded(float x) noexcept {
#if defined(__ARM_FP)
  asm("" : "+w"(x));
#elif defined(__SSE__)
  asm("" : "+x"(x));
#elif defined(__riscv_flen)
  asm("" : "+f"(x));
#elif defined(__wasm__)  // Clang 14 confuses operands that share a register
  asm("local.get %1\n\tlocal.set %0" : "=r"(x) : "r"(x));
#else
  asm("" : "+r"(x));
#endif
  return x;
}

}}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE::detail
