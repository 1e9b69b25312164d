// SPDX-License-Identifier: MIT
//
// exp of all 2^32 floats against the exponential in double, the worst of them against long double. The error is
// counted in ulp.
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "in_parallel.hpp"
#include "tinyattn/kernel/math.hpp"
#include "tinyattn/math.hpp"
#include "ulp.hpp"

namespace tinyattn::test { namespace {

using exact = long double;

// An overflow counts as 2^128, the number that would follow the largest float.
template <class Real>
Real value_or_overflow(Real x) {
  return x < Real(0x1p128) ? x : Real(0x1p128);
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

  // Of two equal errors it keeps that of the smaller x, so that the order of the pieces does not matter.
  Worst& operator+=(const Worst& other) {
    if (other.error > error || (other.error == error && other.x < x)) *this = other;
    return *this;
  }
};

struct Report {
  Mistakes<1> every_float, in_softmax, on_scalar_port;
  std::uint64_t not_nearest = 0;
  Worst worst, worst_in_softmax;

  Report& operator+=(const Report& other) {
    every_float += other.every_float;
    in_softmax += other.in_softmax;
    on_scalar_port += other.on_scalar_port;
    not_nearest += other.not_nearest;
    worst += other.worst;
    worst_in_softmax += other.worst_in_softmax;
    return *this;
  }
};

void check_piece(Report& report, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t bits = first; bits < last; ++bits) {
    const float x = from_bits(bits), result = exp(x);
    // Checks the scalar port, which has no FMA unit and so is slow, on every 61st float.
    if (bits % 61 == 0) report.on_scalar_port.note({x}, bits_of(kernel::exp<port::scalar>(x)) == bits_of(result));
    if (x != x) {
      report.every_float.note({x}, result != result);
      continue;
    }
    const double error = error_in_ulp<double>(x, result);
    report.every_float.note({x}, error <= 1.0 && !std::signbit(result));
    report.not_nearest += error > 0.5;
    report.worst.consider(x, result, error);
    // Softmax calls exp from -69 to 0 only (below -69 it takes a weight as zero), in a shorter form.
    if (x < -69.0f || x > 0.0f) continue;
    report.worst_in_softmax.consider(x, result, error);
    report.in_softmax.note({x}, bits_of(kernel::exp_of_nonpositive<native_port::one_lane>(x)) == bits_of(result));
  }
}

void print_worst(const char* range, const Worst& worst) {
  const auto x = static_cast<double>(worst.x);
  std::printf("# %s: at most %.5Lf ulp, at %a (%.9g)\n", range, worst.error, x, x);
}

const Report& report() {
  static const Report all = in_parallel<Report>(std::uint64_t{1} << 32, std::uint64_t{1} << 22, check_piece);
  return all;
}

constexpr Test tests[] = {
    at_run_time("every float gives a positive result within 1 ulp; a NaN stays one",
                [](Check& check) {
                  print_worst("all floats", report().worst);
                  print_worst("from -69 to 0", report().worst_in_softmax);
                  std::printf("# %" PRIu64 " results are not the nearest float\n", report().not_nearest);
                  report().every_float.check_none(check);
                  check.equal(report().every_float.checked, std::uint64_t{1} << 32);
                  check.that(report().worst.error <= 1);
                }),
    at_run_time("zeros and infinities give 1, 0 and infinity",
                [](Check& check) {
                  constexpr float infinity = std::numeric_limits<float>::infinity();
                  check.that(exp(0.0f) == 1.0f && exp(-0.0f) == 1.0f && exp(infinity) == infinity && bits_of(exp(-infinity)) == 0);
                }),
    at_run_time("the short form of softmax gives the same bits from -69 to 0", [](Check& check) { report().in_softmax.check_none(check); }),
    at_run_time("the scalar port gives the same bits", [](Check& check) { report().on_scalar_port.check_none(check); }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
