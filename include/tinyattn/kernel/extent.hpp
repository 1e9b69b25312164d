// SPDX-License-Identifier: MIT
//
// Sizes, and what their types say of them: all, a bound, or nothing.
#pragma once

#include "tinyattn/port/native.hpp"

#include <cstddef>
#include <type_traits>

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// A size that is part of a type. Kernels take an Extent or a std::size_t, and use both alike.
template <std::size_t N>
struct Extent {
  constexpr operator std::size_t() const noexcept { return N; }
};

// A size of which the type says that it is no less than N.
template <std::size_t N>
struct AtLeast {
  std::size_t value;
  constexpr operator std::size_t() const noexcept { return value; }
};

// A size of which the type says that it is a multiple of N.
template <std::size_t N>
struct MultipleOf {
  std::size_t value;
  constexpr operator std::size_t() const noexcept { return value; }
};

// What a type says of a count, and a type that says no more than that.
template <std::size_t Least, class Count>
inline constexpr bool is_at_least = false;
template <std::size_t Least, std::size_t N>
inline constexpr bool is_at_least<Least, Extent<N>> = (N >= Least);
template <std::size_t Least, std::size_t N>
inline constexpr bool is_at_least<Least, AtLeast<N>> = (N >= Least);
template <std::size_t Most, class Count>
inline constexpr bool is_at_most = false;
template <std::size_t Most, std::size_t N>
inline constexpr bool is_at_most<Most, Extent<N>> = (N <= Most);
template <std::size_t Least, class Count>
using any_size = std::conditional_t<is_at_least<Least, Count>, AtLeast<Least>, std::size_t>;

constexpr std::size_t smaller(std::size_t a, std::size_t b) noexcept { return a < b ? a : b; }

// The size of a tile or block along an extent of `count` that takes at most `most`: as few as can be, of even size.
constexpr std::size_t evenly(std::size_t count, std::size_t most) noexcept {
  const std::size_t parts = (count + most - 1) / most;
  return (count + parts - 1) / parts;
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel
