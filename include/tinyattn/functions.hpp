// SPDX-License-Identifier: MIT
//
// The functions that elementwise.hpp computes of each element, under PyTorch's names: the same bits
// on every target. A NaN goes through, unless a function says otherwise.
#pragma once

#include "tinyattn/kernel/activation.hpp"
#include "tinyattn/kernel/functions.hpp"
#include "tinyattn/kernel/lanes.hpp"
#include "tinyattn/port/square_root.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// A function of one to three vectors, each a kernel::Lanes.
template <class Compute>
struct Function : Compute {};
template <class Compute>
Function(Compute) -> Function<Compute>;

}  // namespace detail

namespace function {

// Each is an object, whose operands are Lanes: constants of float are converted.
#define TINYATTN_FUNCTION(name, operands, ...) \
  inline constexpr detail::Function name{      \
      [] operands TINYATTN_INLINE_LAMBDA { return __VA_ARGS__; }};
// Of a port's vector; and of floats, computed lane by lane.
#define TINYATTN_OF_VECTOR(name, of_port)                      \
  TINYATTN_FUNCTION(name, <class Port>(kernel::Lanes<Port> x), \
                    kernel::Lanes<Port>(of_port<Port>(x.v)))
#define TINYATTN_OF_FLOAT(name, ...) \
  TINYATTN_FUNCTION(name, (auto x),  \
                    kernel::one_by_one([]<class Port>(Port, float a) { return __VA_ARGS__; }, x))
#define TINYATTN_OF_FLOATS(name, ...) \
  TINYATTN_FUNCTION(                  \
      name, (auto x, auto y),         \
      kernel::one_by_one([]<class Port>(Port, float a, float b) { return __VA_ARGS__; }, x, y))

// --- Arithmetic: a sum, a difference, a product, a quotient and fma are rounded once ---

TINYATTN_FUNCTION(add, (auto a, auto b), a + b)
TINYATTN_FUNCTION(subtract, (auto a, auto b), a - b)
TINYATTN_FUNCTION(multiply, (auto a, auto b), a* b)
TINYATTN_FUNCTION(divide, (auto a, auto b), a / b)
// a * b + c: torch.addcmul(c, a, b).
TINYATTN_FUNCTION(fma, (auto a, auto b, auto c), multiply_add(a, b, c))
// a + weight * (b - a).
TINYATTN_FUNCTION(lerp, (auto a, auto b, auto weight), multiply_add(weight, b - a, a))
TINYATTN_FUNCTION(negative, (auto x), -x)
TINYATTN_FUNCTION(square, (auto x), x* x)
TINYATTN_FUNCTION(reciprocal, (auto x), decltype(x)(1.0f) / x)
TINYATTN_FUNCTION(absolute, (auto x), choose(x < 0.0f, -x, x + 0.0f))
// -1, 0 or 1; 0 of a NaN.
TINYATTN_FUNCTION(sign, (auto x), choose(x < 0.0f, -1.0f, choose(0.0f < x, 1.0f, 0.0f)))
// A NaN in one operand is the result.
TINYATTN_FUNCTION(minimum, (auto a, auto b), choose(a < b, a, choose(b < a, b, if_nan(b, b, a))))
TINYATTN_FUNCTION(maximum, (auto a, auto b), choose(b < a, a, choose(a < b, b, if_nan(b, b, a))))
TINYATTN_FUNCTION(clamp, (auto x, auto low, auto high), minimum(maximum(x, low), high))

// --- Comparisons and logic: 1 or 0. A NaN is neither less nor equal; it is not 0, and so true ---

TINYATTN_FUNCTION(isnan, (auto x), if_nan(x, 1.0f, 0.0f))
TINYATTN_FUNCTION(less, (auto a, auto b), choose(a < b, 1.0f, 0.0f))
TINYATTN_FUNCTION(greater, (auto a, auto b), choose(b < a, 1.0f, 0.0f))
TINYATTN_FUNCTION(equal, (auto a, auto b),
                  choose(a < b, 0.0f, choose(b < a, 0.0f, if_nan(a + b, 0.0f, 1.0f))))
TINYATTN_FUNCTION(not_equal, (auto a, auto b), 1.0f - equal(a, b))
TINYATTN_FUNCTION(less_equal, (auto a, auto b), choose(a < b, 1.0f, equal(a, b)))
TINYATTN_FUNCTION(greater_equal, (auto a, auto b), choose(b < a, 1.0f, equal(a, b)))
// Whether x is 0.
TINYATTN_FUNCTION(logical_not, (auto x), equal(x, decltype(x)(0.0f)))
TINYATTN_FUNCTION(logical_or, (auto a, auto b), 1.0f - logical_not(a) * logical_not(b))
TINYATTN_FUNCTION(logical_and, (auto a, auto b),
                  choose(0.0f < logical_not(a) + logical_not(b), 0.0f, 1.0f))
// a where the condition is not 0, else b: torch.where.
TINYATTN_FUNCTION(select, (auto condition, auto a, auto b),
                  choose(0.0f < logical_not(condition), b, a))

// --- Whole numbers ---

// The nearest whole number, of two the even one. Adding 2^23 rounds what is less.
TINYATTN_FUNCTION(round, <class Port>(kernel::Lanes<Port> x), [](kernel::Lanes<Port> from) {
  const kernel::Lanes<Port> size = kernel::magnitude<Port>(from.v), shift = Port::splat(0x1p23f);
  const auto whole = choose(size < shift, (size + shift) - shift, size);
  return kernel::Lanes<Port>(kernel::with_sign_of<Port>(from.v, whole.v));
}(x))
TINYATTN_FUNCTION(floor, (auto x), [](auto of, auto whole) TINYATTN_INLINE_LAMBDA {
  return choose(of < whole, whole - 1.0f, whole);
}(x, (round)(x)))
TINYATTN_FUNCTION(ceil, (auto x), -floor(-x))
TINYATTN_FUNCTION(trunc, (auto x), choose(x < 0.0f, ceil(x), floor(x)))
// a - b * floor(a / b), exactly, with the sign of b; and floor(a / b).
TINYATTN_OF_FLOATS(remainder, kernel::remainder<Port>(a, b))
TINYATTN_OF_FLOATS(floor_divide, kernel::floor_divide<Port>(a, b))

// --- Powers and logarithms ---

TINYATTN_OF_VECTOR(exp, port::elementwise::exp)
// e^x - 1, also of a small x.
TINYATTN_FUNCTION(expm1, <class Port>(kernel::Lanes<Port> x), [](kernel::Lanes<Port> from) {
  const kernel::Lanes<Port> one(1.0f), half = choose(absolute(from) < one, from * 0.5f, 0.0f);
  const kernel::Lanes<Port> t = port::elementwise::tanh<Port>(half.v);
  return choose(absolute(from) < one, (t + t) / (one - t), exp(from) - one);
}(x))
TINYATTN_OF_FLOAT(log, port::elementwise::log<Port>(a))
TINYATTN_OF_FLOAT(log2, kernel::scaled_log<Port>(a, {0x1.715476p+0f, 0x1.4ae0cp-26f}))
TINYATTN_OF_FLOAT(log10, kernel::scaled_log<Port>(a, {0x1.bcb7b2p-2f, -0x1.5b235ep-27f}))
TINYATTN_OF_FLOAT(log1p, kernel::log1p<Port>(a))
TINYATTN_FUNCTION(sqrt, <class Port>(kernel::Lanes<Port> x), [](kernel::Lanes<Port> from) {
  if constexpr (requires { Port::square_root(from.v); })
    return kernel::Lanes<Port>(Port::square_root(from.v));
  else
    return kernel::one_by_one([](auto, float a) { return port::detail::square_root(a); }, from);
}(x))
TINYATTN_FUNCTION(rsqrt, (auto x), 1.0f / sqrt(x))
// x^y, as C's pow.
TINYATTN_OF_FLOATS(power, kernel::power<Port>(a, b))

// --- Angles in radians, of any size ---

TINYATTN_OF_FLOAT(sin, kernel::sine<Port>(a, 0))
TINYATTN_OF_FLOAT(cos, kernel::sine<Port>(a, 1))

// --- Activations ---

TINYATTN_OF_VECTOR(tanh, port::elementwise::tanh)
TINYATTN_OF_VECTOR(erf, port::elementwise::erf)
TINYATTN_OF_VECTOR(sigmoid, port::elementwise::sigmoid)
#define TINYATTN_FUNCTION_OF_LANES(name, NAME, formula) TINYATTN_OF_VECTOR(name, kernel::name)
TINYATTN_ACTIVATIONS(TINYATTN_FUNCTION_OF_LANES)
#undef TINYATTN_FUNCTION_OF_LANES
// log(1 + e^x).
TINYATTN_FUNCTION(softplus, (auto x), choose(x < 0.0f, 0.0f, x) + log1p(exp(-absolute(x))))
TINYATTN_FUNCTION(logsigmoid, (auto x), -softplus(-x))
TINYATTN_FUNCTION(softsign, (auto x), x / (absolute(x) + 1.0f))
TINYATTN_FUNCTION(mish, (auto x), x* tanh(softplus(x)))
TINYATTN_FUNCTION(leaky_relu, (auto x, auto slope), choose(x < 0.0f, x* slope, x))
TINYATTN_FUNCTION(elu, (auto x, auto alpha), choose(x < 0.0f, alpha* expm1(x), x))
TINYATTN_FUNCTION(celu, (auto x, auto alpha), choose(x < 0.0f, alpha* expm1(x / alpha), x))
TINYATTN_FUNCTION(selu, (auto x), 0x1.0cfabep+0f * elu(x, decltype(x)(0x1.ac5afap+0f)))
TINYATTN_FUNCTION(hardsigmoid, (auto x),
                  clamp(x + 3.0f, decltype(x)(0.0f), decltype(x)(6.0f)) / 6.0f)
TINYATTN_FUNCTION(hardswish, (auto x), x* hardsigmoid(x))

#undef TINYATTN_OF_FLOATS
#undef TINYATTN_OF_FLOAT
#undef TINYATTN_OF_VECTOR
#undef TINYATTN_FUNCTION

}  // namespace function

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
