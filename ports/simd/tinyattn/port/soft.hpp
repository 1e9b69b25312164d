// SPDX-License-Identifier: MIT
//
// One lane on a core without an FPU, such as Cortex-M0 and M3: in integers, which takes less
// than the compiler's run-time library.
#pragma once

#include "tinyattn/port/core_shifts.hpp"
#include "tinyattn/port/exp_in_integers.hpp"
#include "tinyattn/port/fma_in_integers.hpp"
#include "tinyattn/port/mul_in_integers.hpp"
#include "tinyattn/port/rounded.hpp"
#include "tinyattn/port/scalar.hpp"
#include "tinyattn/port/soft_integers.hpp"

#include <cstddef>

// A compiler uses an FPU only if flags name one.
#if !defined(TINYATTN_NO_FPU) && !defined(__ARM_FP) &&             \
    (defined(__ARM_ARCH_7EM__) || defined(__ARM_ARCH_8M_MAIN__) || \
     defined(__ARM_ARCH_8_1M_MAIN__))
#pragma message( \
    "tinyattn: most cores of this kind have an FPU; with -mfpu=... -mfloat-abi=hard (or softfp) it is used, 30 times as fast. -DTINYATTN_NO_FPU says that there is none")
#endif

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct soft : scalar, soft_integers, core_shifts {
  using one_lane = soft;
  static constexpr std::size_t registers = 2;
  static constexpr std::size_t tile_vectors = 1;

  TINYATTN_ALWAYS_INLINE static float fma(float a, float b, float c) noexcept {
    return detail::fma_in_integers(a, b, c);
  }
  // to[j] += a * from[j * next] for `count` elements, each rounded once.
  TINYATTN_ALWAYS_INLINE static void add_multiple(float a, const float* from, std::size_t next,
                                                  float* to, std::size_t count) noexcept {
    detail::add_multiple_in_integers(a, from, next, to, count);
  }
  TINYATTN_ALWAYS_INLINE static float exp_of_nonpositive(float x) noexcept {
    return detail::exp_of_nonpositive_in_integers(x);
  }
  TINYATTN_ALWAYS_INLINE static float mul(float a, float b) noexcept {
#if defined(__thumb2__)  // whose library divides and multiplies in one piece of assembly
    return detail::rounded(a * b);
#else
    return detail::multiply_in_integers(a, b);
#endif
  }
  TINYATTN_ALWAYS_INLINE static float add(float a, float b) noexcept {
    return detail::add_in_integers(a, b);
  }
  TINYATTN_ALWAYS_INLINE static float add_square(float x, float sum) noexcept {
    return detail::add_square_in_integers(x, sum);
  }
  TINYATTN_ALWAYS_INLINE static void multiply_twice(const float* x, float factor, const float* by,
                                                    float* out, std::size_t count) noexcept {
    detail::multiply_twice_in_integers(x, factor, by, out, count);
  }
  TINYATTN_ALWAYS_INLINE static float maximum(float a, float b) noexcept {
    return detail::is_less_in_integers(a, b) ? b : a;
  }
  TINYATTN_ALWAYS_INLINE static float select_less(float a, float b, float less,
                                                  float otherwise) noexcept {
    return detail::is_less_in_integers(a, b) ? less : otherwise;
  }
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
