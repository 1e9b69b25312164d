// SPDX-License-Identifier: MIT
//
// Outputs and workspaces between guards, which find writes outside of them.
#pragma once

#include "support/check.hpp"

#include <array>
#include <limits>

#ifndef GUARD_FLOATS
#define GUARD_FLOATS 16
#endif

namespace tinyattn::test {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float largest_float = std::numeric_limits<float>::max();

// A tensor or a workspace between two guards: rows as long as the widest vector, of a value that no call may overwrite. The tensor is
// filled with that value, too; a workspace keeps what its memory held.
template <class Shape>
struct Guarded {
  using Guard = std::array<float, GUARD_FLOATS>;
  static constexpr float untouched = 12345.678f;
  static constexpr Guard guard = [] {
    Guard result{};
    result.fill(untouched);
    return result;
  }();

  Guard before = guard;
  Shape tensor;
  Guard after = guard;

  constexpr Guarded() noexcept {
    if constexpr (requires { tensor.elements; })
      for (auto& element : tensor.elements) element = untouched;
  }

  constexpr bool guards_hold() const noexcept { return before == guard && after == guard; }
};

// Checks that `write(out)` makes the output `expected`, and writes nothing next to it.
template <class Expected>
constexpr void check_output(Check& check, const Expected& expected, auto write, int line = __builtin_LINE()) {
  Guarded<Expected> out;
  write(out.tensor);
  check.same_bits(out.tensor, expected, line);
  check.that(out.guards_hold(), line);
}

// Checks that `write(both)` replaces the input `in` by the output `expected`.
template <class Expected>
constexpr void check_in_place(Check& check, const Expected& expected, const Expected& in, auto write, int line = __builtin_LINE()) {
  Expected both = opaque(in);
  write(both);
  check.same_bits(both, expected, line);
}

}  // namespace tinyattn::test
