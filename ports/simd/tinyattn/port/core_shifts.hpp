// SPDX-License-Identifier: MIT
//
// Shifts by any count in the core registers of a Cortex-M, whose instructions take counts up to
// 255: a compiler would compare each with 31.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

struct core_shifts {
#if defined(__thumb__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
  TINYATTN_ALWAYS_INLINE static std::int32_t shift_right(std::int32_t n,
                                                         std::int32_t count) noexcept {
    asm(".syntax unified\n asrs %0, %1" : "+l"(n) : "l"(count) : "cc");
    return n;
  }
  TINYATTN_ALWAYS_INLINE static std::uint32_t shift_right(std::uint32_t n,
                                                          std::uint32_t count) noexcept {
    asm(".syntax unified\n lsrs %0, %1" : "+l"(n) : "l"(count) : "cc");
    return n;
  }
#endif
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
