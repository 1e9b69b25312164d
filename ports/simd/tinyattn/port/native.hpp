// SPDX-License-Identifier: MIT
//
// The port of this build: the best one that the compiler flags allow, or the one that
// -DTINYATTN_PORT=name asks for. A new port is one header next to this one and one entry of this
// priority list. Everything else follows: builds and tests read in the entry's comment on which
// architectures the port is built, and with which flags.
#pragma once

#include "tinyattn/port/compiler.hpp"

#ifndef TINYATTN_PORT
#if defined(__wasm_simd128__)
// on wasm32 with -msimd128
#define TINYATTN_PORT simd128
#elif defined(__AVX512F__) && defined(__AVX512VL__) && defined(__FMA__)
// on x86_64 with -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl -mfma -mbmi -mbmi2 -mpopcnt
#define TINYATTN_PORT avx512
#elif defined(__AVX2__) && defined(__FMA__)
// on x86_64 with -mavx2 -mfma -mbmi -mbmi2 -mpopcnt
#define TINYATTN_PORT avx2
#elif defined(__SSE2__)
// on x86_64
#define TINYATTN_PORT sse2
#elif defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
// on arm with -mcpu=cortex-m55 -mfloat-abi=hard
#define TINYATTN_PORT helium
#elif defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
// on aarch64, on arm with -mfpu=neon-vfpv4
#define TINYATTN_PORT neon
#else
#include "tinyattn/port/one_lane.hpp"
#define TINYATTN_PORT TINYATTN_ONE_LANE
#endif
#endif

#define TINYATTN_TEXT(name) #name
// clang-format off
#define TINYATTN_PORT_HEADER(name) TINYATTN_TEXT(tinyattn/port/name.hpp)
// clang-format on
#include TINYATTN_PORT_HEADER(TINYATTN_PORT)
#include "tinyattn/port/scalar.hpp"

// Everything that depends on the port lives in an inline namespace named after it and the flags, so
// that units built for different instruction sets never share a function.
#define TINYATTN_ON(name, flags) on_##name##_with_##flags
#define TINYATTN_EXPANDED_ON(name, flags) TINYATTN_ON(name, flags)
#define TINYATTN_PORT_NAMESPACE TINYATTN_EXPANDED_ON(TINYATTN_PORT, TINYATTN_FLAGS)

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

using native_port = port::TINYATTN_PORT;

// Computes on the native port, or on the scalar one in a constant expression.
template <class Computation>
TINYATTN_ALWAYS_INLINE constexpr auto on_native_port(Computation compute) noexcept {
  if (__builtin_is_constant_evaluated()) return compute(port::scalar{});
  return compute(native_port{});
}

// Whether a pointer is null. A temporary's address is not, but in a constant expression GCC 12 does
// not accept that comparison.
TINYATTN_ALWAYS_INLINE constexpr bool is_null(const auto* pointer) noexcept {
  if (!__builtin_is_constant_evaluated()) return pointer == nullptr;
  return __builtin_constant_p(pointer == nullptr) && pointer == nullptr;
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE
