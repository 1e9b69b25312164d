// SPDX-License-Identifier: MIT
//
// Both kinds of weights, as kernels take them. Operations are templates over these, and a program
// contains those of the kinds that it calls.
#pragma once

#include "tinyattn/kernel/int8/product.hpp"
#include "tinyattn/tinyattn.h"

#include <cstddef>
#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

struct Floats {
  static constexpr bool is_int8 = false;
  using Weight = const float*;

  TINYATTN_ALWAYS_INLINE static constexpr kernel::Projection<> projection(
      const tinyattn_linear& linear) noexcept {
    return {linear.weight, linear.bias};
  }
  TINYATTN_ALWAYS_INLINE static constexpr kernel::NoScratch take(float*, std::size_t) noexcept {
    return {};
  }
  TINYATTN_ALWAYS_INLINE static constexpr void give_back() noexcept {}
};

struct Int8 {
  static constexpr bool is_int8 = true;
  using Weight = kernel::Int8Weights;

  TINYATTN_ALWAYS_INLINE static constexpr kernel::Projection<Weight> projection(
      const tinyattn_linear& linear) noexcept {
    return {{linear.codes, linear.scales}, linear.bias};
  }

  // Returns room for `rows` rows of integers in the caller's scratch, whose words are floats before
  // and after. Compilers take floats and integers for different memory. But they may move no access
  // across these empty statements of assembly, and do not know that the result is `words`.
  TINYATTN_ALWAYS_INLINE static kernel::IntegerScratch take(float* words,
                                                            std::size_t rows) noexcept {
    auto* q = reinterpret_cast<std::int32_t*>(words);
    asm volatile("" : "+r"(q) : : "memory");
    return {q, rows};
  }
  TINYATTN_ALWAYS_INLINE static void give_back() noexcept { asm volatile("" : : : "memory"); }
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
