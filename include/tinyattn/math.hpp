// SPDX-License-Identifier: MIT
//
// fma, exp, log, tanh, erf and sqrt of a float: the same bits in the compiler and on every target,
// without libm; and the names of the activations.
#pragma once

#include "tinyattn/port/found.hpp"

#include "tinyattn/activation_list.h"
#include "tinyattn/port/elementwise.hpp"
#include "tinyattn/port/logarithm.hpp"
#include "tinyattn/port/sqrt_in_integers.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn {

// The functions of a float that a feed-forward layer may apply to its hidden features: those of
// activation_list.h. activation.hpp computes them for tensors.
enum class Activation { TINYATTN_ACTIVATIONS(TINYATTN_ENUMERATOR_OF_CPP) };

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// 1 / sqrt(Number), correctly rounded: the scale of the scores, and the bound of a Linear's initial
// weights. The compiler computes it.
template <std::size_t Number>
inline constexpr float inverse_sqrt = port::detail::inverse_sqrt_in_integers(Number);

}  // namespace detail

// The square root of x, correctly rounded, computed in integers on every target; NaN below zero, -0
// for -0.
constexpr float sqrt(float x) noexcept { return port::detail::sqrt_in_integers(x); }

// a * b + c, rounded once.
constexpr float fma(float a, float b, float c) noexcept {
  return on_native_port([=](auto port) { return decltype(port)::one_lane::fma(a, b, c); });
}

// e^x within one unit in the last place; 0 below -104, infinity above 88.73.
constexpr float exp(float x) noexcept {
  return on_native_port(
      [=](auto port) { return port::elementwise::exp<typename decltype(port)::one_lane>(x); });
}

// The natural logarithm of x within one unit in the last place; -infinity for a zero, NaN below.
constexpr float log(float x) noexcept {
  return on_native_port(
      [=](auto port) { return port::elementwise::log<typename decltype(port)::one_lane>(x); });
}

// The hyperbolic tangent of x within one unit in the last place.
constexpr float tanh(float x) noexcept {
  return on_native_port(
      [=](auto port) { return port::elementwise::tanh<typename decltype(port)::one_lane>(x); });
}

// The error function of x, 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x, within one unit
// in the last place.
constexpr float erf(float x) noexcept {
  return on_native_port(
      [=](auto port) { return port::elementwise::erf<typename decltype(port)::one_lane>(x); });
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
