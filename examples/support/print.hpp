// SPDX-License-Identifier: MIT
//
// Text without a C library. A float is an integer times a power of two, so its decimals are computed exactly, in integers, and rounded half
// to even: the digits of Python's "%.4f", and so PyTorch's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "board.h"

namespace support {

// A short text on the stack, zero-terminated for board_print.
class Text {
 public:
  constexpr void append(char character) { characters_[length_++] = character; }
  constexpr void append(const char* characters) {
    while (*characters != 0) append(*characters++);
  }
  constexpr const char* c_str() const { return characters_.data(); }
  constexpr std::size_t length() const { return length_; }

  constexpr bool operator==(const Text&) const = default;
  constexpr bool operator==(const char* characters) const {
    Text other;
    other.append(characters);
    return *this == other;
  }

 private:
  std::array<char, 40> characters_{};
  std::size_t length_ = 0;
};

// Formats an integer with at least `minimum` digits, padded with zeros; `grouped`: with commas between groups of three.
constexpr Text integer(std::uint64_t value, std::size_t minimum = 1, bool grouped = false) {
  std::array<char, 20> reversed{};
  std::size_t count = 0;
  for (; value != 0 || count < minimum; value /= 10) reversed[count++] = static_cast<char>('0' + value % 10);
  Text text;
  while (count-- > 0) {
    text.append(reversed[count]);
    if (grouped && count != 0 && count % 3 == 0) text.append(',');
  }
  return text;
}

constexpr Text grouped(std::uint64_t value) { return integer(value, 1, true); }

// Formats a share, such as "98.6 %".
constexpr Text percent(std::size_t part, std::size_t whole) {
  const std::size_t tenths = (1000 * part + whole / 2) / whole;
  Text text = integer(tenths / 10);
  text.append('.');
  text.append(integer(tenths % 10).c_str());
  text.append(" %");
  return text;
}

constexpr Text hexadecimal(std::uint32_t value, int digits = 8) {
  Text text;
  for (int shift = 4 * digits - 4; shift >= 0; shift -= 4) text.append("0123456789abcdef"[value >> shift & 15]);
  return text;
}

// Returns |x| * scale, rounded half to even; x must be finite and the result below 2^63.
constexpr std::uint64_t rounded_product(float x, std::uint32_t scale) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t biased_exponent = bits >> 23 & 0xff;
  const std::uint64_t significand = (bits & 0x7fffff) | (biased_exponent != 0 ? 0x800000 : 0);
  const int exponent = static_cast<int>(biased_exponent != 0 ? biased_exponent : 1) - 150;
  const std::uint64_t product = significand * scale;
  if (exponent >= 0) return product << exponent;
  if (exponent < -63) return 0;
  const std::uint64_t whole = product >> -exponent;
  const std::uint64_t rest = product - (whole << -exponent);
  const std::uint64_t half = std::uint64_t{1} << (-exponent - 1);
  return rest > half || (rest == half && whole % 2 != 0) ? whole + 1 : whole;
}

constexpr bool is_finite(float x) { return (__builtin_bit_cast(std::uint32_t, x) >> 23 & 0xff) != 0xff; }

// Formats a number as "0.4306", "-inf" or "nan"; without decimals as "2.", as PyTorch prints a tensor of whole numbers.
constexpr Text decimal(float x, bool with_decimals = true) {
  Text text;
  if (x != x) {
    text.append("nan");
    return text;
  }
  if (__builtin_bit_cast(std::uint32_t, x) >> 31 != 0) text.append('-');
  if (!is_finite(x)) {
    text.append("inf");
    return text;
  }
  const std::uint64_t ten_thousandths = rounded_product(x, 10000);
  text.append(integer(ten_thousandths / 10000).c_str());
  text.append('.');
  if (with_decimals) text.append(integer(ten_thousandths % 10000, 4).c_str());
  return text;
}

static_assert(decimal(1.45505822f) == "1.4551" && decimal(-0.0738902539f) == "-0.0739");
static_assert(decimal(0.03125f) == "0.0312" && decimal(0.09375f) == "0.0938", "a half goes to the even neighbour");
static_assert(decimal(2.0f, false) == "2." && decimal(-std::numeric_limits<float>::infinity()) == "-inf");
static_assert(grouped(1048576) == "1,048,576" && percent(357, 360) == "99.2 %");

inline void print(const char* text) { board_print(text); }
inline void print(const Text& text) { board_print(text.c_str()); }
inline void print(std::size_t number) { print(integer(number)); }

template <class... Parts>
requires(sizeof...(Parts) > 1) void print(const Parts&... parts) { (print(parts), ...); }

inline void print_spaces(std::size_t count) {
  while (count-- > 0) print(" ");
}

inline void print_right_aligned(const Text& text, std::size_t width) {
  if (text.length() < width) print_spaces(width - text.length());
  print(text);
}

}  // namespace support
