// SPDX-License-Identifier: MIT
//
// Mistakes that firmware must not hold, each with the sentence by which contents.py must find it in the object for a board.
#include <cstddef>

extern "C" {
void abort();
float expf(float);
void* malloc(std::size_t count);
int printf(const char*, ...);
void arm_softmax_f32(float*, unsigned);
}

// found on mps2-an386: runs code before or after main: .init_array
int tokens();
int context_length = tokens();
// found on mps2-an386: keeps 64 bytes of static RAM: .bss._ZL6scores
static volatile float scores[16];
float score(unsigned i) { return scores[i]; }
// found on mps2-an386: keeps 4 bytes of static RAM: .bss._ZN5Layer5callsE
struct Layer {
  static inline int calls = 0;
};
void count() { ++Layer::calls; }
// found on mps2-an386: holds _ZTV4Mask: type information
struct Mask {
  virtual bool sees(int) const;
};
bool Mask::sees(int key) const { return key == 0; }
// found on mps2-an386: holds _ZGVZ5scalefE5first: a guard variable
float scale(float x) {
  static const float first = 2.0f * x;
  return first * x;
}
// found on mps2-an386: needs malloc: the heap
void* heap_of_c() { return malloc(16); }
// found on mps2-an386: needs _Znwj: the heap
float* heap_of_cpp() { return new float(1.0f); }
// found on mps2-an386: needs printf: stdio
void stdio() { printf("too many tokens\n"); }
// found on mps2-an386: needs abort: an end of the program
void end() { abort(); }
// found on mps2-an386: needs __cxa_throw: exceptions
void exception(int tokens) { throw tokens; }
// found on mps2-an386: needs __aeabi_unwind_cpp_pr1: unwinding
int unwinding() { return tokens() + 1; }
// found on mps2-an386: needs expf: libm
float exp(float x) { return expf(x); }
// found on mps2-an386: needs sqrtf: libm
float sqrt_with_errno(float x) { return __builtin_sqrtf(x); }
// found on mps2-an385: needs fmaf: libm
float fma_without_fpu(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
// found on microbit: needs __aeabi_f2d: arithmetic in double
// found on mps2-an386: needs __aeabi_dmul: arithmetic in double
// found on mps2-an500: computes in double: vmul.f64
float tenth(float x) { return static_cast<float>(static_cast<double>(x) * 0.1); }
// found on mps2-an386: needs __aeabi_l2f: arithmetic in float, for which this core has instructions
float converted(long long count) { return static_cast<float>(count); }
// found on mps2-an386: needs arm_softmax_f32: the compiler's own library has none
void softmax(float* row) noexcept { arm_softmax_f32(row, 6); }
