// SPDX-License-Identifier: MIT
//
// Uniform numbers and dropout, from a random stream.
#pragma once

#include "tinyattn/kernel/size.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Returns the number from `low` to `high` that torch.Tensor.uniform_ computes from a random word:
// 24 bits of it are the fraction.
constexpr float uniform_from(std::uint32_t word, float low, float high) noexcept {
  return on_native_port([=](auto port) {
    using Single = typename decltype(port)::one_lane;
    const float fraction = Single::mul(static_cast<float>(word & 0xffffffu), 0x1p-24f);
    return Single::fma(fraction, Single::add(high, -low), low);
  });
}

// Continues a call of dropout with its next `drawn` elements, of which only the first `count` are
// in memory. Sets each of these to +0, or scales it. Rates 0 and 1 take nothing from the random
// stream.
template <class Port>
constexpr void drop(float* elements, std::size_t count, std::size_t drawn, const auto& rate,
                    auto& stream) noexcept {
  if (rate.bits == 0) return;
  const bool drops_all = rate.keep_below_2_53 == 0;
  const auto scale = __builtin_bit_cast(float, rate.scale_bits);
  for (std::size_t j = 0; j < drawn; ++j) {
    const bool kept = !drops_all && stream.keeps(rate);
    if (j < count) elements[j] = kept ? Port::one_lane::mul(elements[j], scale) : 0.0f;
  }
}

// Drops attention weights by drop(index, i, row, end), and says what it scales the others by.
template <class Drop>
struct WeightsDrop {
  Drop drop;
  float scale;

  TINYATTN_ALWAYS_INLINE constexpr void operator()(std::size_t index, std::size_t i, float* row,
                                                   std::size_t end) const noexcept {
    drop(index, i, row, end);
  }
};
template <class Drop>
TINYATTN_ALWAYS_INLINE constexpr WeightsDrop<Drop> drop_weights(const auto& rate,
                                                                const Drop& drop) noexcept {
  return {drop, __builtin_bit_cast(float, rate.scale_bits)};
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
