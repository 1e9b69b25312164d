// SPDX-License-Identifier: MIT
//
// Which keys a query sees, as kernels ask for it. A key that is not seen is skipped, never multiplied by
// zero: a NaN behind a mask cannot leak. For queries i .. i + rows - 1:
//
//   keys()           how many there are
//   common(i, rows)  every one of them sees the keys below this
//   end(i, rows)     none of them sees a key from here on
//   sees(i, j)       for the keys between; only if the mask `has_holes` can it be false below end(i, 1)
//   score(i, j, s, scale)  of a key that is seen: s, or, if the mask `adds`, its addend to the scaled s
#pragma once

#include "tinyattn/kernel/operand.hpp"
#include "tinyattn/math.hpp"

#include <cstddef>
#include <type_traits>

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// Every query sees every key; also what a matrix product without a mask sees of its inner extent.
template <class Keys>
struct SeesAll {
  static constexpr bool has_holes = false;
  static constexpr bool adds = false;
  Keys source;

  constexpr Keys keys() const noexcept { return source; }
  TINYATTN_ALWAYS_INLINE constexpr Keys common(std::size_t, std::size_t) const noexcept { return source; }
  TINYATTN_ALWAYS_INLINE constexpr Keys end(std::size_t, std::size_t) const noexcept { return source; }
  TINYATTN_ALWAYS_INLINE constexpr bool sees(std::size_t, std::size_t) const noexcept { return true; }

  template <class Port>
  constexpr float score(std::size_t, std::size_t, float score, float) const noexcept {
    return score;
  }
};

// Query i sees the first i + 1 + ahead - behind keys; at least none, at most all of them.
template <class Keys, class Ahead = std::size_t, class Behind = std::size_t>
struct SeesEarlier {
  static constexpr bool has_holes = false;
  static constexpr bool adds = false;
  Keys source;
  Ahead ahead;
  Behind behind;

  constexpr Keys keys() const noexcept { return source; }
  TINYATTN_ALWAYS_INLINE constexpr std::size_t common(std::size_t i, std::size_t) const noexcept {
    const std::size_t last = i + 1 + ahead;
    if constexpr (!std::is_same_v<Behind, Extent<0>>)
      if (last <= behind) return 0;
    return smaller(last - behind, source);
  }
  TINYATTN_ALWAYS_INLINE constexpr std::size_t end(std::size_t i, std::size_t rows) const noexcept { return common(i + rows - 1, 1); }
  TINYATTN_ALWAYS_INLINE constexpr bool sees(std::size_t i, std::size_t j) const noexcept { return j < common(i, 1); }

  template <class Port>
  constexpr float score(std::size_t, std::size_t, float score, float) const noexcept {
    return score;
  }
};

// A tensor of bool says it element by element; one row for all queries if `stride` is 0.
template <class Keys, bool SeenIf>
struct SeesWhere {
  static constexpr bool has_holes = true;
  static constexpr bool adds = false;
  Keys source;
  const bool* mask;
  std::size_t stride;

  constexpr Keys keys() const noexcept { return source; }
  TINYATTN_ALWAYS_INLINE constexpr std::size_t common(std::size_t, std::size_t) const noexcept { return 0; }
  TINYATTN_ALWAYS_INLINE constexpr Keys end(std::size_t, std::size_t) const noexcept { return source; }
  TINYATTN_ALWAYS_INLINE constexpr bool sees(std::size_t i, std::size_t j) const noexcept { return mask[i * stride + j] == SeenIf; }

  template <class Port>
  constexpr float score(std::size_t, std::size_t, float score, float) const noexcept {
    return score;
  }
};

// A tensor of addends; -infinity hides a key.
template <class Keys>
struct SeesWithAddend {
  static constexpr bool has_holes = true;
  static constexpr bool adds = true;
  Keys source;
  const float* addend;
  std::size_t stride;

  constexpr Keys keys() const noexcept { return source; }
  TINYATTN_ALWAYS_INLINE constexpr std::size_t common(std::size_t, std::size_t) const noexcept { return 0; }
  TINYATTN_ALWAYS_INLINE constexpr Keys end(std::size_t, std::size_t) const noexcept { return source; }
  TINYATTN_ALWAYS_INLINE constexpr bool sees(std::size_t i, std::size_t j) const noexcept { return addend[i * stride + j] != -infinity; }

  template <class Port>
  constexpr float score(std::size_t i, std::size_t j, float score, float scale) const noexcept {
    return Port::one_lane::fma(score, scale, addend[i * stride + j]);
  }
};

// What both see.
template <class A, class B>
struct SeesBoth {
  static_assert(!A::adds, "the mask that adds stands second");
  static constexpr bool has_holes = A::has_holes || B::has_holes;
  static constexpr bool adds = B::adds;
  A a;
  B b;

  constexpr auto keys() const noexcept { return a.keys(); }
  TINYATTN_ALWAYS_INLINE constexpr std::size_t common(std::size_t i, std::size_t rows) const noexcept {
    return smaller(a.common(i, rows), b.common(i, rows));
  }
  TINYATTN_ALWAYS_INLINE constexpr std::size_t end(std::size_t i, std::size_t rows) const noexcept {
    return smaller(a.end(i, rows), b.end(i, rows));
  }
  TINYATTN_ALWAYS_INLINE constexpr bool sees(std::size_t i, std::size_t j) const noexcept { return a.sees(i, j) && b.sees(i, j); }

  template <class Port>
  constexpr float score(std::size_t i, std::size_t j, float score, float scale) const noexcept {
    return b.template score<Port>(i, j, score, scale);
  }
};

// The same for a block of queries that starts at query `first`.
template <class Visible>
struct SeesFrom {
  static constexpr bool has_holes = Visible::has_holes;
  static constexpr bool adds = Visible::adds;
  Visible visible;
  std::size_t first;

  constexpr auto keys() const noexcept { return visible.keys(); }
  TINYATTN_ALWAYS_INLINE constexpr auto common(std::size_t i, std::size_t rows) const noexcept { return visible.common(first + i, rows); }
  TINYATTN_ALWAYS_INLINE constexpr auto end(std::size_t i, std::size_t rows) const noexcept { return visible.end(first + i, rows); }
  TINYATTN_ALWAYS_INLINE constexpr bool sees(std::size_t i, std::size_t j) const noexcept { return visible.sees(first + i, j); }

  template <class Port>
  constexpr float score(std::size_t i, std::size_t j, float score, float scale) const noexcept {
    return visible.template score<Port>(first + i, j, score, scale);
  }
};

template <class Visible>
constexpr SeesFrom<Visible> see_from(const Visible& visible, std::size_t first) noexcept {
  return {visible, first};
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel
