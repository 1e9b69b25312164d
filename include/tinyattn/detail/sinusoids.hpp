// SPDX-License-Identifier: MIT
//
// Tables of sines and cosines, which the compiler computes in double and rounds once.
#pragma once

#include "tinyattn/kernel/rotary.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Sums the Taylor series of sine or cosine about 0: the first term and nine more, which suffice for
// |x| <= pi / 4.
constexpr double alternating_series(double first_term, double first_divisor, double square) {
  double term = first_term, sum = first_term, divisor = first_divisor;
  for (int i = 0; i < 9; ++i, divisor += 2) {
    term *= -square / (divisor * (divisor + 1));
    sum += term;
  }
  return sum;
}

struct ExactCosineAndSine {
  double cosine, sine;
};

// The suffix L keeps these literals as they are: -fsingle-precision-constant makes floats of
// literals without a suffix.
inline constexpr double two_over_pi = 0x1.45f306dc9c883p-1L, ln_2 = 0x1.62e42fefa39efp-1L,
                        sqrt_2 = 0x1.6a09e667f3bcdp+0L, half = 0.5L;

// Returns cosine and sine of 0 <= angle < 2^20. pi / 2 is split in two parts; the product of n and
// the first is exact.
constexpr ExactCosineAndSine exact_cosine_and_sine(double angle) {
  constexpr double first_part = 0x1.921fb544p+0L, second_part = 0x1.0b4611a626331p-34L;
  const auto quarters = static_cast<std::uint32_t>(angle * two_over_pi + half);
  const double n = quarters, x = angle - n * first_part - n * second_part;
  const double cosine = alternating_series(1, 1, x * x), sine = alternating_series(x, 2, x * x);
  if (quarters % 4 == 0) return {cosine, sine};
  if (quarters % 4 == 1) return {-sine, cosine};
  if (quarters % 4 == 2) return {-cosine, -sine};
  return {sine, -cosine};
}

// The natural logarithm of x >= 1, and e^-x for x >= 0.
constexpr double logarithm(double x) {
  double halvings = 0;
  for (; x > sqrt_2; x /= 2) ++halvings;
  const double ratio = (x - 1) / (x + 1);
  double power = ratio, sum = 0;
  for (double i = 1; i < 50; i += 2, power *= ratio * ratio) sum += power / i;
  return 2 * sum + halvings * ln_2;
}
constexpr double exponential_of_minus(double x) {
  double halved = 1, term = 1, sum = 1;
  for (; x > ln_2; x -= ln_2) halved /= 2;
  for (double i = 1; i < 20; ++i) {
    term *= -x / i;
    sum += term;
  }
  return sum * halved;
}

// Column `Pair` of the table below: a constant of its own, since compilers limit the steps of
// evaluating one constant.
template <std::size_t Positions>
struct Sinusoid {
  float cosines[Positions], sines[Positions];
};
template <std::size_t Positions>
constexpr Sinusoid<Positions> sinusoid(double frequency) {
  Sinusoid<Positions> sinusoid{};
  for (std::size_t p = 0; p < Positions; ++p) {
    const ExactCosineAndSine at = exact_cosine_and_sine(static_cast<double>(p) * frequency);
    sinusoid.cosines[p] = static_cast<float>(at.cosine);
    sinusoid.sines[p] = static_cast<float>(at.sine);
  }
  return sinusoid;
}
constexpr double frequency(std::uint32_t base, std::size_t pair, std::size_t dim) {
  return exponential_of_minus(logarithm(base) * static_cast<double>(2 * pair) /
                              static_cast<double>(dim));
}
template <std::size_t Positions, std::size_t Dim, std::uint32_t Base, std::size_t Pair>
inline constexpr Sinusoid<Positions> sinusoid_of = sinusoid<Positions>(frequency(Base, Pair, Dim));

// cos and sin of p / Base^(2 i / Dim) for every position p and pair i of `Dim` features.
template <std::size_t Positions, std::size_t Pairs>
struct Sinusoids {
  float cosines[Positions * Pairs], sines[Positions * Pairs];
};
template <std::size_t Positions, std::size_t Dim, std::uint32_t Base, std::size_t... Pair>
constexpr auto sinusoids_of(std::index_sequence<Pair...>) {
  constexpr std::size_t pairs = sizeof...(Pair);
  constexpr const Sinusoid<Positions>* columns[] = {&sinusoid_of<Positions, Dim, Base, Pair>...};
  Sinusoids<Positions, pairs> sinusoids{};
  for (std::size_t i = 0; i < pairs; ++i)
    for (std::size_t p = 0; p < Positions; ++p) {
      sinusoids.cosines[p * pairs + i] = columns[i]->cosines[p];
      sinusoids.sines[p * pairs + i] = columns[i]->sines[p];
    }
  return sinusoids;
}
template <std::size_t Positions, std::size_t Dim, std::uint32_t Base>
inline constexpr auto sinusoids =
    sinusoids_of<Positions, Dim, Base>(std::make_index_sequence<(Dim + 1) / 2>{});

template <std::size_t Tokens, std::size_t Dim>
constexpr Matrix<float, Tokens, Dim> make_sinusoidal_positions() {
  constexpr const auto& table = sinusoids<Tokens, Dim, 10000>;
  Matrix<float, Tokens, Dim> positions{};
  for (std::size_t p = 0; p < Tokens; ++p)
    for (std::size_t j = 0; j < Dim; ++j)
      positions.elements[p * Dim + j] =
          (j % 2 == 0 ? table.sines : table.cosines)[p * ((Dim + 1) / 2) + j / 2];
  return positions;
}
template <std::size_t Tokens, std::size_t Dim>
inline constexpr Matrix<float, Tokens, Dim> sinusoidal_table =
    make_sinusoidal_positions<Tokens, Dim>();

// Returns the cosines and sines of rotary positions, as kernels take them.
template <std::size_t Positions, std::size_t Dim, std::uint32_t Base>
TINYATTN_ALWAYS_INLINE constexpr kernel::Rotation rotation(bool is_interleaved) noexcept {
  constexpr const auto& table = sinusoids<Positions, Dim, Base>;
  return kernel::rotation_of(table.cosines, table.sines, is_interleaved, Dim);
}

// Frequencies in turns, as EndlessRotation takes them.
template <std::size_t Pairs>
struct Speeds {
  std::uint64_t at[Pairs];
};
template <std::size_t Dim, std::uint32_t Base>
inline constexpr auto speeds = [] {
  constexpr double turn = 0x1.921fb54442d18p+2L, fractions = 0x1p+63L;
  Speeds<Dim / 2> speeds{};
  for (std::size_t i = 0; i < Dim / 2; ++i)
    speeds.at[i] = 2 * static_cast<std::uint64_t>(frequency(Base, i, Dim) / turn * fractions);
  return speeds;
}();
template <std::size_t Dim, std::uint32_t Base>
TINYATTN_ALWAYS_INLINE constexpr kernel::EndlessRotation endless_rotation(
    bool is_interleaved) noexcept {
  return kernel::endless_rotation_of(speeds<Dim, Base>.at, is_interleaved, Dim);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
