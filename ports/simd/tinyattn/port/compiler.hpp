// SPDX-License-Identifier: MIT
//
// What every port requires of the compiler: C++20, and float arithmetic as written. All headers
// include this one first, so that a wrong flag gives one diagnostic and not a page of them.
#pragma once

#if __cplusplus < 202002L
#error "tinyattn needs C++20: compile with -std=c++20 or later"
// There is no such file: compilers stop here, and print its name.
#include "tinyattn needs -std=c++20"
#endif

// GCC has a macro for each part of -ffast-math that may change a bit. Clang has one only for the
// whole; its parts change no bit, as the CRC table shows (tests/night/one_answer).
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__)
#error \
    "tinyattn computes the same bits on every target, which -ffast-math forbids: compile without -ffast-math and its parts"
#endif

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error \
    "tinyattn lets NaN and infinity through, which -ffinite-math-only (a part of -ffast-math) forbids: compile without it"
#endif

// One half of -ffinite-math-only, -fno-honor-nans, has no macro. Clang 18 and later warn of it, and
// quote this line.
#if defined(__has_warning)
#if __has_warning("-Wnan-infinity-disabled")
#pragma clang diagnostic push
#pragma clang diagnostic error "-Wnan-infinity-disabled"
namespace tinyattn::port {
inline constexpr float compile_without_fno_honor_nans = __builtin_nanf("");
}  // namespace tinyattn::port
#pragma clang diagnostic pop
#endif
#endif

// 16: half precision is evaluated as such, and float as float.
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error \
    "tinyattn rounds every operation to float, but FLT_EVAL_METHOD says that this target does not: on x86, compile with -mfpmath=sse -msse2"
#endif

// For a 32-bit x86, Clang may round floats as required but compute doubles in the x87.
#if defined(__i386__) && !defined(__SSE2_MATH__)
#error \
    "tinyattn needs a double that is rounded once, and this x86 computes it wider: compile with -mfpmath=sse -msse2"
#endif

// References to members do not compile with -fpack-struct, which has no macro.
namespace tinyattn::port {
struct aligned_members {
  char byte;
  int word;
};
static_assert(alignof(int) == 1 || sizeof(aligned_members) != sizeof(char) + sizeof(int),
              "tinyattn needs members that are aligned: compile without -fpack-struct");
}  // namespace tinyattn::port

// A port's function is one instruction or a few. Always inlined, it cannot be shared between units
// that are built for different instruction sets.
#define TINYATTN_ALWAYS_INLINE [[gnu::always_inline]] inline
#define TINYATTN_INLINE_LAMBDA __attribute__((always_inline))

// The instruction sets that the compiler may use besides the port's. Units built with different
// flags share no function of a port.
#ifndef TINYATTN_FLAGS
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define TINYATTN_FLAGS avx512_vnni
#elif defined(__AVX512F__)
#define TINYATTN_FLAGS avx512
#elif defined(__AVXVNNI__)
#define TINYATTN_FLAGS avx_vnni
#elif defined(__AVX2__) || defined(__BMI2__)
#define TINYATTN_FLAGS avx2
#elif defined(__AVX__)
#define TINYATTN_FLAGS avx
#elif defined(__SSE3__) || defined(__POPCNT__)
#define TINYATTN_FLAGS sse4
#elif defined(__ARM_FEATURE_SVE) && defined(__ARM_FEATURE_DOTPROD)
#define TINYATTN_FLAGS sve_dotprod
#elif defined(__ARM_FEATURE_SVE)
#define TINYATTN_FLAGS sve
#elif defined(__ARM_FEATURE_DOTPROD)
#define TINYATTN_FLAGS dotprod
#else
#define TINYATTN_FLAGS none
#endif
#endif
#define TINYATTN_WITH(flags) with_##flags
#define TINYATTN_EXPANDED_WITH(flags) TINYATTN_WITH(flags)
#define TINYATTN_FLAGS_NAMESPACE TINYATTN_EXPANDED_WITH(TINYATTN_FLAGS)

// Unrolls the loop that follows. Firmware is built with -O2 or -Os, where compilers leave the loops
// of a register tile rolled and the tile in memory.
#define TINYATTN_UNROLL _Pragma("GCC unroll 64")

// Unrolls the loop that follows, unless the compiler is asked for small code.
#if defined(__OPTIMIZE_SIZE__)
#define TINYATTN_UNROLL_FOR_SPEED
#else
#define TINYATTN_UNROLL_FOR_SPEED TINYATTN_UNROLL
#endif

// Hides from Clang how a pointer was computed: it would otherwise compute the pointers to several
// rows from one another in each step of a loop.
#if defined(__clang__) && !defined(__wasm__)
#define TINYATTN_FORGET_ORIGIN(pointer) asm("" : "+r"(pointer))
#else
#define TINYATTN_FORGET_ORIGIN(pointer) static_cast<void>(0)
#endif

// Code between these two macros is exempt from two GCC warnings. -Wshadow compares the locals of
// lambdas in templates with the globals of the program that instantiates them, and blames the
// library for a name that the user chose. And GCC 14 reports the never-reached loop of a product of
// no terms as endless.
#if defined(__clang__)
#define TINYATTN_BEGIN
#define TINYATTN_END
#else
#define TINYATTN_BEGIN                                                          \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") \
      _Pragma("GCC diagnostic ignored \"-Waggressive-loop-optimizations\"")
#define TINYATTN_END _Pragma("GCC diagnostic pop")
#endif
