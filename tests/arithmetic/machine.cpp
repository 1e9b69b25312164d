// SPDX-License-Identifier: MIT
//
// Compiled with -mfma on x86, so that __builtin_fmaf is the instruction and not libm.
#include "machine.hpp"

namespace tinyattn::test {

bool machine_has_fma() {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

float machine_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

}  // namespace tinyattn::test
