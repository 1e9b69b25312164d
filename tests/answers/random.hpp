// SPDX-License-Identifier: MIT
//
// Draws the same numbers on every machine, and in the compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace tinyattn::test {

using Size = std::size_t;

class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u) {
    for (int i = 0; i < 3; ++i) below(2);  // the first numbers of near seeds are alike
  }

  constexpr Size below(Size bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<Size>((state_ >> 33) % bound);
  }
  constexpr bool one_in(Size count) { return below(count) == 0; }
  template <class T>
  constexpr T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  // A size that is small, around a multiple of vectors and tiles, or any, up to `most`.
  constexpr Size size(Size most = 70) {
    const Size drawn = one_in(3) ? 1 + below(8) : one_in(2) ? one_of({4u, 8u, 16u, 32u, 48u, 64u}) + below(3) - 1 : 1 + below(70);
    return drawn > most ? 1 + drawn % most : drawn;
  }
  constexpr Size divisor(Size of) {
    Size drawn = 1 + below(of);
    while (of % drawn != 0) --drawn;
    return drawn;
  }

 private:
  std::uint64_t state_;
};

}  // namespace tinyattn::test
