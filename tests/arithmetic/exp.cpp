// SPDX-License-Identifier: MIT
//
// exp of all 2^32 floats against the exponential in double, the worst of them against long double. The error is
// counted in units in the last place (ulp): the spacing of the floats where the exact value lies.
#include "in_parallel.hpp"
#include "tinyattn/math.hpp"
#include "verdicts.hpp"

#include <cinttypes>
#include <cmath>

namespace tinyattn::test {
namespace {

using exact = long double;

// An overflow counts as 2^128, the number that would follow the largest float.
template <class Real>
Real value_or_overflow(Real x) {
  return x < Real(0x1p128) ? x : Real(0x1p128);
}

// One over the spacing of the floats at x, 2^-149 <= spacing <= 2^104.
double ulps_per_unit(double x) {
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52) - 1023;
  const int spacing = std::clamp(exponent, -126, 127) - 23;
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 - spacing) << 52);
}

template <class Real>
Real error_in_ulp(float x, float result) {
  const Real expected = value_or_overflow(std::exp(static_cast<Real>(x)));
  return std::fabs(value_or_overflow(static_cast<Real>(result)) - expected) *
         static_cast<Real>(ulps_per_unit(static_cast<double>(expected)));
}

struct Worst {
  exact error = 0;
  float x = 0;

  // Long double is slow, and only a result that is not the nearest float can be the worst.
  void consider(float candidate, float result, double error_in_double) {
    if (error_in_double > 0.5 && error_in_double > static_cast<double>(error) - 1e-6)
      *this += {error_in_ulp<exact>(candidate, result), candidate};
  }

  // Of equals the smaller x, so that the order of the pieces does not show.
  Worst& operator+=(const Worst& other) {
    if (other.error > error || (other.error == error && other.x < x)) *this = other;
    return *this;
  }
};

struct Report {
  std::uint64_t checked = 0, not_nearest = 0, wrong = 0, steps_back = 0;
  std::uint64_t softmax_checked = 0, softmax_differs = 0, scalar_checked = 0, scalar_differs = 0;
  Worst worst, softmax_worst;

  Report& operator+=(const Report& other) {
    checked += other.checked;
    not_nearest += other.not_nearest;
    wrong += other.wrong;
    steps_back += other.steps_back;
    softmax_checked += other.softmax_checked;
    softmax_differs += other.softmax_differs;
    scalar_checked += other.scalar_checked;
    scalar_differs += other.scalar_differs;
    worst += other.worst;
    softmax_worst += other.softmax_worst;
    return *this;
  }
};

// Where softmax calls exp: below -69 a weight is zero. It has a shorter form there, which must give the same bits.
constexpr bool in_softmax(float x) { return x >= -69.0f && x <= 0.0f; }

void check_one(Report& report, float x, float result) {
  ++report.checked;
  const double error = error_in_ulp<double>(x, result);
  if (!(error <= 1.0) || std::signbit(result)) ++report.wrong;
  if (error > 0.5) ++report.not_nearest;
  report.worst.consider(x, result, error);
  if (!in_softmax(x)) return;
  ++report.softmax_checked;
  report.softmax_worst.consider(x, result, error);
  if (bits_of(kernel::exp_of_nonpositive<native_port::one_lane>(x)) != bits_of(result)) ++report.softmax_differs;
}

// The scalar port on one float of 61: without an FMA unit the same bits, only slower.
void check_scalar(Report& report, float x, float result) {
  ++report.scalar_checked;
  if (bits_of(kernel::exp<port::scalar>(x)) != bits_of(result)) ++report.scalar_differs;
}

void check_piece(Report& report, std::uint64_t first, std::uint64_t last) {
  const bool continues = first % 0x80000000u != 0;
  float previous = exp(from_bits(continues ? first - 1 : first));
  for (std::uint64_t bits = first; bits < last; ++bits) {
    const float x = from_bits(bits), result = exp(x);
    if (bits % 61 == 0) check_scalar(report, x, result);
    if (x != x) {
      if (result == result) ++report.wrong;
      continue;
    }
    check_one(report, x, result);
    if (x < 0 ? result > previous : result < previous) ++report.steps_back;
    previous = result;
  }
}

void print_worst(const char* range, const Worst& worst) {
  std::printf("# %s: at most %.5Lf ulp, at %a (%.9g)\n", range, worst.error, static_cast<double>(worst.x), static_cast<double>(worst.x));
}

bool special_values_are_right() {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return exp(0.0f) == 1.0f && exp(-0.0f) == 1.0f && exp(infinity) == infinity && bits_of(exp(-infinity)) == 0;
}

int run() {
  const auto report = in_parallel<Report>(std::uint64_t{1} << 32, std::uint64_t{1} << 22, check_piece);
  print_worst("all floats", report.worst);
  print_worst("from -69 to 0", report.softmax_worst);
  std::printf("# %" PRIu64 " floats that are no NaN, %" PRIu64 " results are not the nearest float, %" PRIu64 " step back\n",
              report.checked, report.not_nearest, report.steps_back);
  Verdicts verdicts;
  verdicts.that(report.checked == (std::uint64_t{1} << 32) - 2 * ((std::uint64_t{1} << 23) - 1), "every float was looked at");
  verdicts.that(report.wrong == 0 && report.worst.error <= 1, "every result is positive and within 1 ulp, and a NaN stays one");
  verdicts.that(special_values_are_right(), "zeros and infinities give 1, 0 and infinity");
  verdicts.that(report.softmax_checked != 0 && report.softmax_differs == 0, "the short form of softmax gives the same bits from -69 to 0");
  verdicts.that(report.scalar_checked != 0 && report.scalar_differs == 0, "the scalar port gives the same bits");
  return verdicts.finish();
}

}  // namespace
}  // namespace tinyattn::test

int main() { return tinyattn::test::run(); }
