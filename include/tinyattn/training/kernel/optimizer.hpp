// SPDX-License-Identifier: MIT
//
// The steps of optimizers along one tensor: SGD, SGD with momentum, AdamW; and the norm of a
// gradient. Sizes below 2^-100 count as 0 in gradients, their squares and moments: so no subnormal
// arises there, which some vector units flush.
#pragma once

#include "tinyattn/port/sqrt_by_table.hpp"
#include "tinyattn/training/kernel/row.hpp"

#include <cstddef>
#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

inline constexpr float smallest_size = 0x1p-100f, root_of_smallest_size = 0x1p-50f;

// Whether the size of x is below `limit`, which is positive; that of a NaN is not.
TINYATTN_KERNEL bool is_below(float x, float limit) noexcept {
  return __builtin_bit_cast(std::uint32_t, x) << 1 < __builtin_bit_cast(std::uint32_t, limit) << 1;
}

// Returns x, or 0 if its size is below `smallest`; a NaN stays one.
template <class Port>
TINYATTN_KERNEL auto cut_small(typename Port::vec x, float smallest = smallest_size) noexcept {
  if constexpr (Port::lanes == 1)
    return is_below(x, smallest) ? 0.0f : x;
  else if constexpr (requires { Port::cut_below(x, x); })
    return Port::cut_below(x, Port::splat(smallest));
  else
    return Port::select_less(x, Port::splat(smallest),
                             Port::select_less(Port::splat(-smallest), x, Port::splat(0.0f), x), x);
}
// The same for x >= 0.
template <class Port>
TINYATTN_KERNEL auto cut_small_square(typename Port::vec x) noexcept {
  if constexpr (Port::lanes == 1)
    return cut_small<Port>(x);
  else
    return Port::select_less(x, Port::splat(smallest_size), Port::splat(0.0f), x);
}

// The square root of each lane, correctly rounded; lane by lane where a port has none of vectors.
template <class Port>
TINYATTN_KERNEL auto square_roots(typename Port::vec x) noexcept {
  if constexpr (requires { Port::square_root(x); }) {
    return Port::square_root(x);
  } else if constexpr (Port::lanes == 1) {
    return port::detail::quick_square_root(x);
  } else {
    float lanes[Port::lanes];
    Port::store(lanes, x);
    for (float& lane : lanes) lane = port::detail::square_root(lane);
    return Port::load(lanes);
  }
}

// row[j] = 0.
template <class Port>
[[gnu::noinline]] constexpr void zero_row(float* row, std::size_t count) noexcept {
  if constexpr (Port::lanes == 1)
    for (; count >= 4; count -= 4, row += 4) row[0] = row[1] = row[2] = row[3] = 0.0f;
  for_each_vector<Port>(count,
                        [&](auto at) TINYATTN_INLINE_LAMBDA { at.store(row, Port::splat(0.0f)); });
}

// Returns the sum of the squares of a row in sixteen lanes.
template <class Port>
[[gnu::noinline]] constexpr float sum_of_squares_of_gradient(const float* row,
                                                             std::size_t count) noexcept {
  return sum_in_lanes<Port>(row, count, [](auto v, auto sum) TINYATTN_INLINE_LAMBDA {
    const auto d = cut_small<Port>(v, root_of_smallest_size);
    return Port::fma(d, d, sum);
  });
}

// --- SGD, as torch.optim.SGD ---

struct SgdFactors {
  float rate, momentum, weight_decay;
};

// Returns the gradient, and weight_decay times the weight.
template <class Port, bool Decays>
TINYATTN_KERNEL auto decayed_gradient(float weight_decay, typename Port::vec gradient,
                                      typename Port::vec weight) noexcept {
  const auto d = cut_small<Port>(gradient);
  if constexpr (Decays)
    return Port::fma(Port::broadcast(weight_decay), weight, d);
  else
    return d;
}

// weight -= rate * (gradient + weight_decay * weight), two fma.
template <class Port, bool Decays>
TINYATTN_KERNEL void sgd_row(const SgdFactors& by, std::size_t count, float* weight,
                             const float* gradient) noexcept {
  const auto rate = Port::broadcast(-by.rate);
  for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto w = at.load(weight, 0.0f);
    const auto d = decayed_gradient<Port, Decays>(by.weight_decay, at.load(gradient, 0.0f), w);
    at.store(weight, Port::fma(rate, d, w));
  });
}

// Without weight decay, a port may update the first weights; the rest follow here.
template <class Port>
[[gnu::noinline]] constexpr void sgd(const SgdFactors& by, std::size_t count, float* weight,
                                     const float* gradient) noexcept {
  if (by.weight_decay != 0.0f) return sgd_row<Port, true>(by, count, weight, gradient);
  std::size_t done = 0;
  if constexpr (requires { &Port::add_multiple_of_large; })
    done = Port::add_multiple_of_large(-by.rate, gradient, weight, count, smallest_size);
  sgd_row<Port, false>(by, count - done, weight + done, gradient + done);
}

// velocity = momentum * velocity + gradient + weight_decay * weight; weight -= rate * velocity.
template <class Port>
[[gnu::noinline]] constexpr void sgd_momentum(const SgdFactors& by, std::size_t count,
                                              float* weight, const float* gradient,
                                              float* velocity) noexcept {
  const auto rate = Port::broadcast(-by.rate), momentum = Port::broadcast(by.momentum);
  for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto w = at.load(weight, 0.0f);
    const auto d = decayed_gradient<Port, true>(by.weight_decay, at.load(gradient, 0.0f), w);
    const auto v = cut_small<Port>(Port::fma(momentum, at.load(velocity, 0.0f), d));
    at.store(velocity, v);
    at.store(weight, Port::fma(rate, v, w));
  });
}

// --- AdamW: Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019 ---

struct AdamWFactors {
  float beta1, one_minus_beta1, beta2, one_minus_beta2;
  float decay;  // 1 - learning rate * weight decay
  float rate;   // learning rate / (1 - beta1^t)
  float share;  // 1 / sqrt(1 - beta2^t)
  float epsilon;
  float least_square;  // a gradient of this square or more, and its moment of squares, are not cut
};

// Returns 1 - beta of the decimal number of up to seven digits that beta was written as: .001f for
// .999f. The difference of the floats has an error of 1e-5 of itself; a beta that is no such
// number has the difference.
template <class Port>
constexpr float one_minus(float beta) noexcept {
  using Single = typename Port::one_lane;
  const float difference = Single::add(1.0f, -beta);
  if (!(difference > 0.0f && difference < 0.5f)) return difference;
  const float steps = static_cast<float>(
      static_cast<std::int32_t>(Single::add(Single::mul(difference, 1e7f), 0.5f)));
  const float decimal = Single::divide(steps, 1e7f);
  return Single::add(1.0f, -decimal) == beta ? decimal : difference;
}

// Updates a bias correction, c = 1 - beta^t, without a power: c = beta * c + (1 - beta). The second
// factor of c is what beta has beyond its float: without it, 1,000 steps differ from PyTorch's by
// more than 1e-6.
template <class Port>
constexpr void update_correction(float& c, float beta, float one_minus_beta) noexcept {
  using Single = typename Port::one_lane;
  const float rest_of_beta = Single::add(Single::add(1.0f, -beta), -one_minus_beta);
  c = Single::fma(beta, c, Single::fma(rest_of_beta, c, one_minus_beta));
}

// Updates the corrections of a state, and returns the factors of its next step.
template <class Port>
[[gnu::noinline]] constexpr AdamWFactors adamw_factors(float learning_rate, float beta1,
                                                       float beta2, float epsilon,
                                                       float weight_decay, float& correction1,
                                                       float& correction2) noexcept {
  using Single = typename Port::one_lane;
  const float one_minus_beta1 = one_minus<Port>(beta1), one_minus_beta2 = one_minus<Port>(beta2);
  update_correction<Port>(correction1, beta1, one_minus_beta1);
  update_correction<Port>(correction2, beta2, one_minus_beta2);
  return {beta1,
          one_minus_beta1,
          beta2,
          one_minus_beta2,
          Single::fma(-learning_rate, weight_decay, 1.0f),
          Single::divide(learning_rate, correction1),
          Single::divide(1.0f, port::detail::square_root(correction2)),
          epsilon,
          Single::divide(2.0f * smallest_size, one_minus_beta2)};
}

// Moves the weights of a vector along:
//   mean = beta1 * mean + (1 - beta1) * d
//   square = beta2 * square + (1 - beta2) * d^2
//   weight = decay * weight - rate * mean / (share * sqrt(square) + epsilon)
// In each sum the second product is rounded first, of `square` the first. IsCut: d, its square or
// the moment of squares may be too small.
template <class Port, bool IsCut>
TINYATTN_KERNEL void adamw_vector(const AdamWFactors& by, auto at, typename Port::vec d,
                                  typename Port::vec d_square, float* weight, float* mean,
                                  float* square) noexcept {
  if (IsCut) {
    d = cut_small<Port>(d);
    d_square = cut_small_square<Port>(d_square);
  }
  const auto m = cut_small<Port>(Port::fma(Port::broadcast(by.beta1), at.load(mean, 0.0f),
                                           Port::mul(d, Port::broadcast(by.one_minus_beta1))));
  auto v = Port::fma(Port::broadcast(by.one_minus_beta2), d_square,
                     Port::mul(at.load(square, 0.0f), Port::broadcast(by.beta2)));
  if (IsCut) v = cut_small_square<Port>(v);
  at.store(mean, m);
  at.store(square, v);
  const auto size =
      Port::fma(Port::broadcast(by.share), square_roots<Port>(v), Port::splat(by.epsilon));
  const auto decayed = Port::mul(at.load(weight, 0.0f), Port::broadcast(by.decay));
  at.store(weight, Port::fma(Port::broadcast(-by.rate), quotient<Port>(m, size), decayed));
}

// The same for one weight whose gradient is small: out of line, since it is rare.
template <class Port>
[[gnu::noinline]] constexpr void adamw_of_small(const AdamWFactors& by, std::size_t j, float d,
                                                float* weight, float* mean,
                                                float* square) noexcept {
  adamw_vector<Port, true>(by, RowVector<Port, true>{j}, d, Port::mul(d, d), weight, mean, square);
}

template <class Port>
[[gnu::noinline]] constexpr void adamw(const AdamWFactors& by, std::size_t count, float* weight,
                                       const float* gradient, float* mean, float* square) noexcept {
  const AdamWFactors factors = by;  // in registers: a store could change what `by` refers to
  for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto d = at.load(gradient, 0.0f), d_square = Port::mul(d, d);
    if constexpr (Port::lanes != 1)
      adamw_vector<Port, true>(factors, at, d, d_square, weight, mean, square);
    else if (is_below(d_square, factors.least_square)) [[unlikely]]
      adamw_of_small<Port>(by, at.j, d, weight, mean, square);
    else
      adamw_vector<Port, false>(factors, at, d, d_square, weight, mean, square);
  });
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
