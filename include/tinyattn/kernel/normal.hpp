// SPDX-License-Identifier: MIT
//
// Normally distributed numbers from a random stream, as PyTorch draws them on a CPU.
#pragma once

#include "tinyattn/kernel/random.hpp"
#include "tinyattn/kernel/rotary.hpp"
#include "tinyattn/math.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Turns sixteen numbers, uniform in [0, 1), into normal ones of mean 0 and variance 1, by pairs
// (u, v) of elements i and i + 8: sqrt(-2 log(1 - u)) times the cosine and the sine of 2 pi v. Box
// and Muller, "A note on the generation of random normal deviates", 1958.
template <class Port>
constexpr void make_normal(float (&numbers)[16]) noexcept {
  using Single = typename Port::one_lane;
  for (std::size_t i = 0; i < 8; ++i) {
    const float radius = sqrt(Single::mul(-2.0f, log(Single::add(1.0f, -numbers[i]))));
    const float turns = Single::mul(numbers[i + 8], 0x1p24f);
    const auto angle = cosine_and_sine_of<Port>(static_cast<std::uint32_t>(turns) << 8);
    numbers[i] = Single::mul(radius, angle.cosine);
    numbers[i + 8] = Single::mul(radius, angle.sine);
  }
}

// Draws `count` normal numbers: sixteen at a time, each a function of sixteen words. If some are
// left, the last sixteen of all are drawn again; of fewer than sixteen numbers, sixteen are drawn.
template <class Port>
constexpr void draw_normal(float* numbers, std::size_t count, auto& stream) noexcept {
  float block[16];
  const auto draw = [&] {
    for (float& element : block) element = uniform_from(stream.next(), 0.0f, 1.0f);
  };
  if (count < 16) {
    draw();
    make_normal<Port>(block);
    for (std::size_t j = 0; j < count; ++j) numbers[j] = block[j];
    return;
  }
  // PyTorch draws all words first, then those of the last block again.
  for (std::size_t j = 0; j < count; ++j) numbers[j] = uniform_from(stream.next(), 0.0f, 1.0f);
  const auto turn = [&](float* at) {
    for (std::size_t j = 0; j < 16; ++j) block[j] = at[j];
    make_normal<Port>(block);
    for (std::size_t j = 0; j < 16; ++j) at[j] = block[j];
  };
  for (std::size_t i = 0; i + 16 <= count; i += 16) turn(numbers + i);
  if (count % 16 == 0) return;
  float* const last = numbers + (count - 16);
  for (std::size_t j = 0; j < 16; ++j) last[j] = uniform_from(stream.next(), 0.0f, 1.0f);
  turn(last);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
