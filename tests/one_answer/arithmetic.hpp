// SPDX-License-Identifier: MIT
//
// Cases of arithmetic and of the generators. A case is a struct whose tensors are its members, so that a board can keep them out of
// its stack; it draws its inputs, computes, and hands over its outputs. No value lies below 2^-126, where targets may differ.
#pragma once

#include "inputs.hpp"

#include "tinyattn/math.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/tensor.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tinyattn::one_answer {

// A number of either sign whose exponent is anything from -`range` to `range` - 1.
constexpr float wide_number(Inputs& inputs, std::uint32_t range) noexcept {
  const std::uint32_t exponent = 127 - range + inputs.word() % (2 * range);
  return std::bit_cast<float>((inputs.word() & 0x807fffffu) | exponent << 23);
}

// Any operands; an addend that leaves nothing of the product but its rounding error; a sum halfway between two floats.
struct Fma {
  Vector<float, 192> out;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    for (std::size_t i = 0; i < out.size(); i += 3) {
      const float a = wide_number(inputs, 20), b = wide_number(inputs, 20);
      out(i) = fma(a, b, wide_number(inputs, 40));
      out(i + 1) = fma(a, b, -fma(a, b, -0.0f));
      out(i + 2) = fma(wide_number(inputs, 1), hidden(1.0f), hidden(0x1p-25f));
    }
    outputs.take("out", out);
  }
};

// From where e^x is hardly a normal number to where it is hardly finite.
struct Exp {
  Vector<float, 192> out;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    for (float& element : out.elements) {
      const float x = 128.0f * inputs.number();
      element = exp(x < -87.0f || x > 88.0f ? 0.25f * x : x);
    }
    outputs.take("out", out);
  }
};

struct Sqrt {
  Vector<float, 64> out;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    for (float& element : out.elements) {
      const float x = wide_number(inputs, 60);
      element = sqrt(x < 0.0f ? -x : x);
    }
    outputs.take("out", out);
  }
};

template <std::size_t Size>
struct Dot {
  Vector<float, Size> u, v;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(u);
    inputs.draw(v);
    outputs.take("out", vector({dot(u, v)}));
  }
};

template <std::size_t... Extents>
struct Add {
  Tensor<float, Extents...> a, b;

  constexpr void operator()(Inputs& inputs, auto& outputs) noexcept {
    inputs.draw(a);
    inputs.draw(b, 0x1p-10f);
    outputs.take("out", add(a, b));
  }
};

// More words than the state of a Mersenne twister has, so that it is renewed in between.
template <class Generator>
struct Draws {
  Generator generator{hidden(123u)};
  Vector<float, 40> out;

  constexpr void operator()(Inputs&, auto& outputs) noexcept {
    outputs.take("rand", rand<5, 7>(generator));
    for (float& element : out.elements) {
      for (int skipped = 0; skipped < 20; ++skipped) element = uniform(generator, -3.0f, 0.1f);
    }
    outputs.take("uniform", out);
  }
};

}  // namespace tinyattn::one_answer
