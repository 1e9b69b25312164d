// SPDX-License-Identifier: MIT
//
// Random numbers that are the same on every machine, and in the compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace tinyattn::test {

using Size = std::size_t;

class Random {
 public:
  static constexpr Size any_size = 70;

  constexpr explicit Random(std::uint64_t seed, Size most = any_size) : state_(seed * 0x9e3779b97f4a7c15u), most_(most) {
    for (int i = 0; i < 3; ++i) below(2);  // near seeds begin with like numbers
  }

  constexpr Size below(Size bound) { return bits() % static_cast<std::uint32_t>(bound); }
  constexpr bool one_in(Size count) { return below(count) == 0; }
  template <class T>
  constexpr T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  // A number of 24 bits that lies between 2^-8 and 1, or between -1 and -2^-8.
  constexpr float number() {
    const std::uint32_t drawn = bits(), exponent = 119 + (drawn >> 1) % 8;
    return __builtin_bit_cast(float, drawn << 31 | exponent << 23 | (drawn >> 4 & 0x7fffff));
  }

  // A size: small, around a multiple of vectors and tiles, or any; at most `most` and the largest of all.
  constexpr Size size(Size most = any_size) {
    const Size drawn = one_in(3) ? 1 + below(8) : one_in(2) ? one_of({4u, 8u, 16u, 32u, 48u, 64u}) + below(3) - 1 : 1 + below(any_size);
    if (most > most_) most = most_;
    return drawn > most ? 1 + drawn % most : drawn;
  }
  constexpr Size largest_size() const { return most_; }
  // A size, or rarely the length of a long row, around those where int8 sums leave fewer bits for an input.
  constexpr Size length() { return most_ == any_size && one_in(16) ? one_of({1032u, 1033u, 2064u, 2065u, 4129u, 4130u}) : size(); }
  constexpr Size divisor(Size of) {
    Size drawn = 1 + below(of);
    while (of % drawn != 0) --drawn;
    return drawn;
  }

 private:
  constexpr std::uint32_t bits() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33);
  }

  std::uint64_t state_;
  Size most_;
};

}  // namespace tinyattn::test
