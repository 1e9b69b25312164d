// SPDX-License-Identifier: MIT
//
// Mistakes that firmware must not contain, each with the diagnostic that contents.py must print for a board's object.
#include <cstddef>

extern "C" {
float expf(float);
void* malloc(std::size_t count);
}

// found on mps2-an386: holds 4 bytes in .init_array, neither code nor a constant
int tokens();
int context_length = tokens();
// found on mps2-an386: holds 64 bytes in .bss._ZL6scores, neither code nor a constant
static volatile float scores[16];
float score(unsigned i) { return scores[i]; }
// found on mps2-an386: holds 4 bytes in .bss._ZN5Layer5callsE, neither code nor a constant
struct Layer {
  static inline int calls = 0;
};
void count() { ++Layer::calls; }
// found on mps2-an386: needs _ZTVN10__cxxabiv117__class_type_infoE: code for this core must not
struct Mask {
  virtual bool sees(int) const;
};
bool Mask::sees(int key) const { return key == 0; }
// found on mps2-an386: needs __cxa_guard_acquire: code for this core must not
float scale(float x) {
  static const float first = 2.0f * x;
  return first * x;
}
// found on mps2-an386: needs malloc: code for this core must not
void* heap_of_c() { return malloc(16); }
// found on mps2-an386: needs _Znwj: code for this core must not
float* heap_of_cpp() { return new float(1.0f); }
// found on mps2-an386: needs __aeabi_unwind_cpp_pr1: code for this core must not
// found on mps2-an386: holds 12 bytes in .ARM.extab.text._Z9unwindingv, neither code nor a constant
int unwinding() { return tokens() + 1; }
// found on mps2-an386: needs expf: code for this core must not
float exp(float x) { return expf(x); }
// found on mps2-an386: needs sqrtf: code for this core must not
float sqrt_with_errno(float x) { return __builtin_sqrtf(x); }
// found on mps2-an385: needs fmaf: code for this core must not
float fma_without_fpu(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
// found on microbit: needs __aeabi_f2d: code for this core must not
// found on mps2-an386: needs __aeabi_dmul: code for this core must not
// found on mps2-an500: computes in double: vmul.f64
float tenth(float x) { return static_cast<float>(static_cast<double>(x) * 0.1); }
// found on mps2-an386: needs __aeabi_l2f: code for this core must not
float converted(long long count) { return static_cast<float>(count); }
