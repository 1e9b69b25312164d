// SPDX-License-Identifier: MIT
//
// Vectors of a port that are written as numbers: a function of them looks like one of a float.
#pragma once

#include "tinyattn/kernel/size.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// A vector, of which each operation is one of the port, rounded once.
template <class Port>
struct Lanes {
  typename Port::vec v;

  struct Less {
    typename Port::vec a, b;
  };

  TINYATTN_KERNEL Lanes(typename Port::vec vector) noexcept : v(vector) {}
  TINYATTN_KERNEL Lanes(float number) noexcept requires(Port::lanes != 1)
      : v(Port::splat(number)) {}

  TINYATTN_ALWAYS_INLINE friend constexpr Lanes operator+(Lanes a, Lanes b) noexcept {
    return Port::add(a.v, b.v);
  }
  TINYATTN_ALWAYS_INLINE friend constexpr Lanes operator*(Lanes a, Lanes b) noexcept {
    return Port::mul(a.v, b.v);
  }
  TINYATTN_ALWAYS_INLINE friend constexpr Lanes operator/(Lanes a, Lanes b) noexcept {
    return quotient<Port>(a.v, b.v);
  }
  TINYATTN_ALWAYS_INLINE friend constexpr Lanes operator-(Lanes a) noexcept {
    if constexpr (Port::lanes == 1)
      return -a.v;
    else
      return negative<Port>(a.v);
  }
  TINYATTN_ALWAYS_INLINE friend constexpr Lanes operator-(Lanes a, Lanes b) noexcept {
    if constexpr (Port::lanes == 1)
      return Port::add(a.v, -b.v);
    else
      return Port::fma(Port::broadcast(-1.0f), b.v, a.v);
  }
  // a * b + c, rounded once.
  TINYATTN_ALWAYS_INLINE friend constexpr Lanes multiply_add(Lanes a, Lanes b, Lanes c) noexcept {
    return Port::fma(a.v, b.v, c.v);
  }
  // choose(a < b, x, y): x in the lanes where a < b, else y. A NaN is not less.
  TINYATTN_ALWAYS_INLINE friend constexpr Less operator<(Lanes a, Lanes b) noexcept {
    return {a.v, b.v};
  }
  TINYATTN_ALWAYS_INLINE friend constexpr Lanes choose(Less is, Lanes x, Lanes y) noexcept {
    return Port::select_less(is.a, is.b, x.v, y.v);
  }
  // if_nan(a, x, y): x in the lanes where a is a NaN, else y.
  TINYATTN_ALWAYS_INLINE friend constexpr Lanes if_nan(Lanes a, Lanes x, Lanes y) noexcept {
    const Lanes above = choose(Lanes(Port::splat(0.0f)) < a, y, x);
    return choose(a < Lanes(Port::splat(infinity)), y, above);
  }
};

// Computes each lane by compute(Single{}, x...), in which Single is the port of one lane.
template <class Port, class... More>
constexpr Lanes<Port> one_by_one(const auto& compute, Lanes<Port> x, More... more) noexcept {
  using Single = typename Port::one_lane;
  if constexpr (Port::lanes == 1) {
    return compute(Single{}, x.v, more.v...);
  } else {
    float lanes[1 + sizeof...(More)][Port::lanes];
    auto* row = lanes;
    Port::store(*row++, x.v);
    (Port::store(*row++, more.v), ...);
    for (std::size_t q = 0; q < Port::lanes; ++q) {
      if constexpr (sizeof...(More) == 0)
        lanes[0][q] = compute(Single{}, lanes[0][q]);
      else
        lanes[0][q] = compute(Single{}, lanes[0][q], lanes[1][q]);
    }
    return Port::load(lanes[0]);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
