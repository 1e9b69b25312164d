// SPDX-License-Identifier: MIT
//
// fma on 10^8 operands against the machine's own: in double, in integers, and as this build computes it, a float and in vectors.
#include "tinyattn/math.hpp"
#include "tinyattn/port/fma_in_double.hpp"
#include "tinyattn/port/fma_in_integers.hpp"

#include "machine.hpp"
#include "operands.hpp"
#include "verdicts.hpp"

#include <cinttypes>

namespace tinyattn::test {
namespace {

constexpr std::uint64_t operand_count = 100'000'000;

// What one of the functions under test got wrong, with an example.
struct Mistakes {
  std::uint64_t count = 0;
  Operands operands = {};
  float result = 0;

  void compare(const Operands& x, float actual, float expected) {
    if (bits_of(actual) != bits_of(expected)) *this += {1, x, actual};
  }

  Mistakes& operator+=(const Mistakes& other) {
    if (count == 0) *this = {0, other.operands, other.result};
    count += other.count;
    return *this;
  }
};

// How many results were of a kind that goes wrong easily: a test without them has proved little.
struct Kinds {
  std::uint64_t subnormal = 0, zero = 0, negative_zero = 0, overflow = 0, tie = 0, cancelled = 0, not_finite = 0;

  void count(const Operands& x, float result) {
    const bool finite = std::isfinite(x.a) && std::isfinite(x.b) && std::isfinite(x.c);
    if (!finite) ++not_finite;
    if (finite && std::isinf(result)) ++overflow;
    if (std::fpclassify(result) == FP_SUBNORMAL) ++subnormal;
    if (result == 0) ++(std::signbit(result) ? negative_zero : zero);
    if (finite && result != 0 && std::fabs(result) < std::fabs(x.c) * 0x1p-20f) ++cancelled;
    if (finite && is_tie(x)) ++tie;
  }

  Kinds& operator+=(const Kinds& other) {
    subnormal += other.subnormal;
    zero += other.zero;
    negative_zero += other.negative_zero;
    overflow += other.overflow;
    tie += other.tie;
    cancelled += other.cancelled;
    not_finite += other.not_finite;
    return *this;
  }

  bool all_occur() const {
    const std::uint64_t least = std::min({subnormal, zero, negative_zero, overflow, tie, cancelled, not_finite});
    return least >= operand_count / 1000;
  }

  // Exactly halfway between two normal floats. The product is exact in double; the sum is where both can be taken apart again.
  static bool is_tie(const Operands& x) {
    const double product = static_cast<double>(x.a) * static_cast<double>(x.b), addend = static_cast<double>(x.c);
    const double sum = product + addend;
    const bool sum_is_exact = sum - product == addend && sum - addend == product;
    const double size = std::fabs(sum);
    return sum_is_exact && size >= 0x1p-126 && size < 0x1p128 && (std::bit_cast<std::uint64_t>(sum) & 0x1fffffff) == 0x10000000;
  }
};

struct Report {
  Mistakes in_double, in_integers, in_this_build, in_vectors, multiply;
  Kinds kinds;

  Report& operator+=(const Report& other) {
    in_double += other.in_double;
    in_integers += other.in_integers;
    in_this_build += other.in_this_build;
    in_vectors += other.in_vectors;
    multiply += other.multiply;
    kinds += other.kinds;
    return *this;
  }
};

// The product that a Cortex-M0 computes from halves, on the mantissas of a and b.
void check_multiply(Report& report, const Operands& x) {
  const std::uint32_t a = bits_of(x.a) & 0xffffffu, b = bits_of(x.b) & 0xffffffu;
  if (port::detail::multiply_in_halves(a, b) != std::uint64_t{256} * a * b) report.multiply += {1, x, 0.0f};
}

// The operands of the last calls, a lane each of the port of this build.
class Vectors {
 public:
  void add(Report& report, const Operands& x, float expected) {
    operands_[filled_] = x;
    expected_[filled_] = expected;
    if (++filled_ < lanes) return;
    compare(report);
    filled_ = 0;
  }

 private:
  static constexpr std::size_t lanes = native_port::lanes;

  void compare(Report& report) const {
    float a[lanes], b[lanes], c[lanes], result[lanes];
    for (std::size_t lane = 0; lane < lanes; ++lane) a[lane] = operands_[lane].a, b[lane] = operands_[lane].b, c[lane] = operands_[lane].c;
    native_port::store(result, native_port::fma(native_port::load(a), native_port::load(b), native_port::load(c)));
    for (std::size_t lane = 0; lane < lanes; ++lane) report.in_vectors.compare(operands_[lane], result[lane], expected_[lane]);
  }

  std::size_t filled_ = 0;
  Operands operands_[lanes];
  float expected_[lanes];
};

void check_piece(Report& report, std::uint64_t first, std::uint64_t last) {
  Randomness random(first);
  Vectors vectors;
  for (std::uint64_t i = first; i < last; ++i) {
    const Operands x = draw(random);
    const float expected = machine_fma(x.a, x.b, x.c);
    report.in_double.compare(x, port::detail::fma_in_double(x.a, x.b, x.c), expected);
    report.in_integers.compare(x, port::detail::fma_in_integers(x.a, x.b, x.c), expected);
    report.in_this_build.compare(x, fma(x.a, x.b, x.c), expected);
    vectors.add(report, x, expected);
    check_multiply(report, x);
    report.kinds.count(x, expected);
  }
}

void judge(Verdicts& verdicts, const char* name, const Mistakes& mistakes) {
  if (mistakes.count != 0) {
    const auto [a, b, c] = mistakes.operands;
    std::printf("# %" PRIu64 " mistakes, such as fma(%a, %a, %a) = %a\n", mistakes.count, static_cast<double>(a), static_cast<double>(b),
                static_cast<double>(c), static_cast<double>(mistakes.result));
  }
  verdicts.that(mistakes.count == 0, name);
}

int run() {
  if (!machine_has_fma()) {
    std::printf("1..0 # SKIP this machine has no fused multiply-add to compare with\n");
    return 0;
  }
  const auto report = in_parallel<Report>(operand_count, operand_count / 1000, check_piece);
  const Kinds& kinds = report.kinds;
  std::printf("# %" PRIu64 " operands; results: %" PRIu64 " ties, %" PRIu64 " with 20 bits or more cancelled, %" PRIu64 " subnormal\n",
              operand_count, kinds.tie, kinds.cancelled, kinds.subnormal);
  std::printf("# %" PRIu64 " zeros, %" PRIu64 " negative zeros, %" PRIu64 " overflows, %" PRIu64 " from NaN or infinity\n", kinds.zero,
              kinds.negative_zero, kinds.overflow, kinds.not_finite);
  Verdicts verdicts;
  verdicts.that(kinds.all_occur(), "every kind of result is one in a thousand or more");
  judge(verdicts, "fma in double is the machine's", report.in_double);
  judge(verdicts, "fma in integers is the machine's", report.in_integers);
  judge(verdicts, "fma of this build is the machine's", report.in_this_build);
  judge(verdicts, "fma of this build's vectors is the machine's", report.in_vectors);
  judge(verdicts, "the product from halves is exact", report.multiply);
  return verdicts.finish();
}

}  // namespace
}  // namespace tinyattn::test

int main() { return tinyattn::test::run(); }
