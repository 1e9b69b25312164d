// SPDX-License-Identifier: MIT
//
// Runs the same computation on a port and on the scalar one, and compares all that they wrote, bit for bit; the floats around the output
// must be unchanged.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "catalogue/draw.hpp"
#include "tinyattn/kernel/tile.hpp"
#include "tinyattn/port/scalar.hpp"
#include "tinyattn/port/soft.hpp"

namespace tinyattn::test {

// An output with a margin on either side, filled with a known value.
template <std::size_t Size>
struct Field {
  static constexpr std::size_t margin = 32;
  std::array<float, margin + Size + margin> floats;

  float* cleared() noexcept {
    floats.fill(Guarded<float>::untouched);
    return floats.data() + margin;
  }
  // Returns whether nothing was written before the first `size` floats or after them.
  bool is_untouched_beside(std::size_t size) const noexcept {
    const auto is_untouched = [](float x) { return x == Guarded<float>::untouched; };
    return size <= Size && std::all_of(floats.begin(), floats.begin() + margin, is_untouched) &&
           std::all_of(floats.begin() + margin + size, floats.end(), is_untouched);
  }
};

inline constexpr std::size_t field_size = 3072;
inline Field<field_size> field, expected_field;

// The reference port. With Helium, GCC 12's assembler mistakes a conditional conversion to double (vcvtne) for a vector instruction: there
// the reference is the port without doubles, which `operations` compares with the scalar one.
#if defined(__ARM_FEATURE_MVE)
using Reference = port::soft;
#else
using Reference = port::scalar;
#endif

// Checks that compute(port, out) writes the bits that expect(Reference, out) writes, and only within the first `size` floats.
template <class Port>
void check_same_bits(Check& check, std::size_t size, auto expect, auto compute) {
  expect(Reference{}, expected_field.cleared());
  compute(Port{}, field.cleared());
  check.same_bits(field.floats, expected_field.floats);
  check.that(field.is_untouched_beside(size));
}

// Random floats in [-1, 1) to read, at an offset.
inline constexpr std::size_t source_size = 2048;
const auto source_floats = drawn<Vector<float, source_size>>(1);
inline const float* source(std::size_t seed) noexcept { return source_floats.data() + seed % 64; }

// A gap separates the rows of matrices, so that reads and writes beyond a row change the result.
inline constexpr std::size_t gap = 3;

// Lengths and column counts below, at and above a vector, a register tile and two of them.
template <class Port>
inline constexpr auto edges = [] {
  constexpr std::size_t n = Port::lanes, tile = Port::tile_vectors * n;
  constexpr std::size_t below = n - (n > 1), below_tile = tile - (tile > 1), above = 2 * tile + 3;
  const std::size_t counts[]{1, below, n, n + 1, 2 * n + 1, below_tile, tile, tile + 1, above};
  return std::to_array(counts);
}();

}  // namespace tinyattn::test
