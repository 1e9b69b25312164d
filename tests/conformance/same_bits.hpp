// SPDX-License-Identifier: MIT
//
// The same computation on a port and on the scalar one, into fields of untouched floats: what is written must have the same bits, and
// what is beside it must be untouched.
#pragma once

#include <array>
#include <cstddef>

#include "support/check.hpp"
#include "tinyattn/kernel/operand.hpp"
#include "tinyattn/port/scalar.hpp"
#include "tinyattn/port/soft.hpp"
#include "unit/plain.hpp"

namespace tinyattn::test {

inline constexpr std::size_t field_size = 3072;
inline constexpr std::size_t margin = 32;

using Field = std::array<float, margin + field_size + margin>;
inline Field field, expected_field;

inline float* cleared(Field& of) noexcept {
  for (float& element : of) element = Guarded<float>::untouched;
  return of.data() + margin;
}

// The reference. With Helium the assembler of GCC 12 takes a conversion to double under a condition, vcvtne, for a vector's: there it is
// the port without doubles, which `operations` compares with the scalar one.
#if defined(__ARM_FEATURE_MVE)
using Reference = port::soft;
#else
using Reference = port::scalar;
#endif

// compute(port, out) writes `size` floats, or some of them.
template <class Port>
void check_same_bits(Check& check, std::size_t size, auto compute) {
  compute(Reference{}, cleared(expected_field));
  compute(Port{}, cleared(field));
  check.same_bits(field, expected_field);
  bool untouched = size <= field_size;
  for (std::size_t i = 0; i < margin; ++i) untouched = untouched && field[i] == Guarded<float>::untouched;
  for (std::size_t i = margin + size; i < field.size(); ++i) untouched = untouched && field[i] == Guarded<float>::untouched;
  check.that(untouched);
}

// Floats of [-1, 1) to read from.
inline constexpr std::size_t source_size = 2048;
inline const float* source(std::size_t seed) noexcept {
  static const auto floats = numbers<Vector<float, source_size>>(1);
  return floats.data() + seed % 64;
}

// Lengths and column counts below, at and above a vector, a register tile and two of them.
template <class Port>
inline constexpr std::array edges{std::size_t{1},
                                  Port::lanes - (Port::lanes > 1),
                                  Port::lanes,
                                  Port::lanes + 1,
                                  2 * Port::lanes + 1,
                                  Port::tile_vectors* Port::lanes - (Port::tile_vectors * Port::lanes > 1),
                                  Port::tile_vectors* Port::lanes,
                                  Port::tile_vectors* Port::lanes + 1,
                                  2 * Port::tile_vectors* Port::lanes + 3};

}  // namespace tinyattn::test
