// SPDX-License-Identifier: MIT
//
// Vectors of integers of 32 bits, next to those of floats.
#pragma once

#include "tinyattn/kernel/row.hpp"

#include <cstdint>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

constexpr std::uint32_t bits_of(float x) noexcept { return __builtin_bit_cast(std::uint32_t, x); }
constexpr float float_of(std::uint32_t bits) noexcept { return __builtin_bit_cast(float, bits); }

// Whether vectors of the port are the compiler's, which have integers of the same size.
template <class Port>
inline constexpr bool has_compiler_vectors =
    Port::lanes > 1 && !std::is_class_v<typename Port::vec>;
// The port that computes rows of integers: Port, or else its port of one lane.
template <class Port>
using IntegerPort =
    typename std::conditional_t<has_compiler_vectors<Port>, std::type_identity<Port>,
                                std::type_identity<typename Port::one_lane>>::type;

// `lanes` integers of 32 bits.
template <class Port>
struct IntegersOf {
  using type [[gnu::vector_size(sizeof(typename Port::vec))]] = std::int32_t;
  using unsigned_type [[gnu::vector_size(sizeof(typename Port::vec))]] = std::uint32_t;
};
template <class Port>
requires(Port::lanes == 1) struct IntegersOf<Port> {
  using type = std::int32_t;
  using unsigned_type = std::uint32_t;
};
template <class Port>
using Integers = typename IntegersOf<Port>::type;
template <class Port>
using Naturals = typename IntegersOf<Port>::unsigned_type;

template <class Port>
TINYATTN_KERNEL Integers<Port> as_integers(typename Port::vec v) noexcept {
  return __builtin_bit_cast(Integers<Port>, v);
}

// Of numbers, or of vectors.
template <class Vector>
TINYATTN_KERNEL Vector greater(Vector a, std::type_identity_t<Vector> b) noexcept {
  return a < b ? b : a;
}
template <class Vector>
TINYATTN_KERNEL Vector lesser(Vector a, std::type_identity_t<Vector> b) noexcept {
  return a < b ? a : b;
}
// |n|
template <class Vector>
TINYATTN_KERNEL Vector absolute(Vector n) noexcept {
  return (n ^ n >> 31) - (n >> 31);
}

// n / 2, rounded half upwards.
template <class Vector>
TINYATTN_KERNEL Vector halved(Vector n) noexcept {
  return n - (n >> 1);
}

// Loads `lanes` integers, and adds a number to each, modulo 2^32.
template <class Port>
TINYATTN_KERNEL Integers<Port> load_and_add(const auto* from, std::uint32_t addend) noexcept {
  if constexpr (Port::lanes == 1) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(*from) + addend);
  } else {
    typename IntegersOf<Port>::unsigned_type n;
    __builtin_memcpy(&n, from, sizeof(n));
    return __builtin_bit_cast(Integers<Port>, n + addend);
  }
}
template <class Port>
TINYATTN_KERNEL void store_integers(std::int32_t* to, Integers<Port> n) noexcept {
  if constexpr (Port::lanes == 1)
    *to = n;
  else
    __builtin_memcpy(to, &n, sizeof(n));
}

// The first `count` lanes of n; other lanes are `fill`.
template <class Port>
TINYATTN_KERNEL Integers<Port> first_integers(Integers<Port> n, std::size_t count,
                                              std::int32_t fill) noexcept {
  if constexpr (Port::lanes == 1) {
    return count == 0 ? fill : n;
  } else {
    Integers<Port> lanes;
    for (std::size_t lane = 0; lane < Port::lanes; ++lane)
      lanes[lane] = static_cast<std::int32_t>(lane);
    return lanes < static_cast<std::int32_t>(count) ? n : Integers<Port>{} + fill;
  }
}

// The port of up to eight lanes that shifts each integer by a count of its own: Port, its half, or
// else its port of one lane.
template <class Port>
concept shifts_lanes = requires(Integers<Port> n) {
  Port::shift_right(n, n);
};
template <class Port>
struct ShiftingPortOf {
  using type = typename Port::one_lane;
};
template <shifts_lanes Port>
struct ShiftingPortOf<Port> {
  using type = Port;
};
template <class Port>
using ShiftingPort = typename ShiftingPortOf<narrowed<IntegerPort<Port>, 8>>::type;

// n >> counts, which are from 0 to 127.
template <class Port, class Vector>
TINYATTN_KERNEL Vector shift_right(Vector n, std::type_identity_t<Vector> counts) noexcept {
  if constexpr (requires { Port::shift_right(n, counts); })
    if (Port::lanes > 1 || !__builtin_is_constant_evaluated()) return Port::shift_right(n, counts);
  if constexpr (Port::lanes == 1)
    return n >> (static_cast<std::uint32_t>(counts) < 31 ? counts : 31);
}
// The first `count` bytes as integers; other lanes are 0.
template <class Port>
TINYATTN_KERNEL Integers<Port> load_bytes(const std::uint8_t* from, std::size_t count) noexcept {
  if constexpr (Port::lanes == 1)
    return *from;
  else
    return Port::load_bytes(from, count);
}

// Each integer as a float, rounded half to even.
template <class Port>
TINYATTN_KERNEL typename Port::vec as_floats(Integers<Port> n) noexcept {
  if constexpr (Port::lanes == 1)
    return static_cast<float>(n);
  else
    return __builtin_convertvector(n, typename Port::vec);
}

template <class Port>
TINYATTN_KERNEL typename Port::vec as_vector(Integers<Port> n) noexcept {
  return __builtin_bit_cast(typename Port::vec, n);
}

// Combines the lanes to one integer by step(a, b).
template <class Port>
TINYATTN_KERNEL std::uint32_t reduce_integers(Integers<Port> n, const auto& step) noexcept {
  const auto of_vectors = [&](auto a, auto b) TINYATTN_INLINE_LAMBDA {
    return as_vector<Port>(step(as_integers<Port>(a), as_integers<Port>(b)));
  };
  if constexpr (Port::lanes == 1)
    return static_cast<std::uint32_t>(n);
  else
    return bits_of(reduce<Port>(as_vector<Port>(n), of_vectors));
}
template <class Port>
TINYATTN_KERNEL std::uint32_t greatest_of_integers(Integers<Port> n) noexcept {
  return reduce_integers<Port>(n,
                               [](auto a, auto b) TINYATTN_INLINE_LAMBDA { return greater(a, b); });
}
template <class Port>
TINYATTN_KERNEL std::uint32_t all_bits_of_integers(Integers<Port> n) noexcept {
  return reduce_integers<Port>(n, [](auto a, auto b) TINYATTN_INLINE_LAMBDA { return a | b; });
}
template <class Port>
TINYATTN_KERNEL std::uint32_t sum_of_integers(Integers<Port> n) noexcept {
  return reduce_integers<Port>(n, [](auto a, auto b) TINYATTN_INLINE_LAMBDA { return a + b; });
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
