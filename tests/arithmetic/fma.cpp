// SPDX-License-Identifier: MIT
//
// fma on 10^8 operands against the machine's own: in double, in integers, and as this build computes it, of single floats and in vectors.
#include <array>
#include <cinttypes>
#include <cstdio>

#include "operands.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/port/fma_in_double.hpp"
#include "tinyattn/port/fma_in_integers.hpp"

namespace tinyattn::test { namespace {

// The machine's fma instruction, not libm's function, whatever the flags of this build are.
#if defined(__x86_64__) || defined(__i386__)
bool machine_has_fma() { return __builtin_cpu_supports("fma"); }
[[gnu::target("fma")]] float machine_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
bool machine_has_fma() { return true; }
float machine_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#endif

constexpr std::uint64_t operand_count = 100'000'000;

// Kinds of result that go wrong easily; the test requires a minimum of each.
enum Kind { subnormal, zero, negative_zero, overflow, tie, cancelled, not_finite, kinds };
constexpr const char* names[kinds] = {"subnormal", "zero", "-0", "overflow", "tie", "cancelled by 20 bits or more", "from NaN or infinity"};

// Returns whether product + addend lies exactly halfway between two normal floats. The product is exact in double; the sum is exact if
// subtracting either operand from it gives the other.
bool is_tie(double product, double addend) {
  const double sum = product + addend, size = std::fabs(sum);
  const bool sum_is_exact = sum - product == addend && sum - addend == product;
  return sum_is_exact && size >= 0x1p-126 && size < 0x1p128 && (__builtin_bit_cast(std::uint64_t, sum) & 0x1fffffff) == 0x10000000;
}

// The functions that are compared with the machine's fma.
enum Function { in_double, in_integers, in_this_build, in_vectors, product_from_halves, functions };

struct Report {
  std::array<Mistakes<3>, functions> mistakes;
  std::array<std::uint64_t, kinds> of_kind = {};

  void count(const Operands& operands, float result) {
    const auto [a, b, c] = operands;
    const bool finite = std::isfinite(a) && std::isfinite(b) && std::isfinite(c);
    of_kind[not_finite] += !finite;
    of_kind[overflow] += finite && std::isinf(result);
    of_kind[subnormal] += std::fpclassify(result) == FP_SUBNORMAL;
    of_kind[zero] += result == 0 && !std::signbit(result);
    of_kind[negative_zero] += result == 0 && std::signbit(result);
    of_kind[cancelled] += finite && result != 0 && std::fabs(result) < std::fabs(c) * 0x1p-20f;
    of_kind[tie] += finite && is_tie(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c));
  }

  Report& operator+=(const Report& other) {
    for (std::size_t i = 0; i < functions; ++i) mistakes[i] += other.mistakes[i];
    for (std::size_t i = 0; i < kinds; ++i) of_kind[i] += other.of_kind[i];
    return *this;
  }
};

// Takes one set of operands for each lane of this build's port per iteration.
void check_piece(Report& report, std::uint64_t first, std::uint64_t last) {
  constexpr std::size_t lanes = native_port::lanes;
  Randomness random(first);
  std::array<float, lanes> x, y, z, expected, result;
  for (std::uint64_t i = first; i < last; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const Operands operands = draw(random);
      const auto [a, b, c] = operands;
      const float exact = machine_fma(a, b, c);
      const auto note = [&](Function function, float actual) {
        report.mistakes[function].note(operands, bits_of(actual) == bits_of(exact));
      };
      note(in_double, port::detail::fma_in_double(a, b, c));
      note(in_integers, port::detail::fma_in_integers(a, b, c));
      note(in_this_build, fma(a, b, c));
      // The product of the mantissas as a Cortex-M0 computes it, from their halves.
      const std::uint32_t m = bits_of(a) & 0xffffffu, n = bits_of(b) & 0xffffffu;
      report.mistakes[product_from_halves].note(operands, port::detail::multiply_in_halves(m, n) == std::uint64_t{256} * m * n);
      report.count(operands, exact);
      x[lane] = a, y[lane] = b, z[lane] = c, expected[lane] = exact;
    }
    native_port::store(result.data(),
                       native_port::fma(native_port::load(x.data()), native_port::load(y.data()), native_port::load(z.data())));
    for (std::size_t lane = 0; lane < lanes; ++lane)
      report.mistakes[in_vectors].note({x[lane], y[lane], z[lane]}, bits_of(result[lane]) == bits_of(expected[lane]));
  }
}

const Report& report() {
  static const Report all = in_parallel<Report>(operand_count, operand_count / 1000, check_piece);
  return all;
}

template <Function function>
void check_machines(Check& check) {
  report().mistakes[function].check_none(check);
}

constexpr Test tests[] = {
    at_run_time("every kind of result is one in a thousand or more",
                [](Check& check) {
                  for (std::size_t i = 0; i < kinds; ++i) {
                    std::printf("# %" PRIu64 " of %" PRIu64 " results: %s\n", report().of_kind[i], operand_count, names[i]);
                    check.that(report().of_kind[i] >= operand_count / 1000);
                  }
                }),
    at_run_time("fma in double is the machine's", check_machines<in_double>),
    at_run_time("fma in integers is the machine's", check_machines<in_integers>),
    at_run_time("fma of this build is the machine's", check_machines<in_this_build>),
    at_run_time("fma of this build's vectors is the machine's", check_machines<in_vectors>),
    at_run_time("the product from halves is exact", check_machines<product_from_halves>),
};

}}  // namespace tinyattn::test

int main() {
  if (tinyattn::test::machine_has_fma()) return tinyattn::test::run(tinyattn::test::tests);
  std::printf("1..0 # SKIP this machine has no fused multiply-add to compare with\n");
  return 0;
}
