// SPDX-License-Identifier: MIT
//
// fma on 10^8 operands, compared with the machine's own: in double, in integers, and in this build's single floats and vectors.
#include "operands.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/port/fma_in_double.hpp"
#include "tinyattn/port/fma_in_integers.hpp"

namespace tinyattn::test { namespace {

// The machine's fma instruction, not libm's function, whatever this build's flags.
#if defined(__x86_64__) || defined(__i386__)
bool machine_has_fma() { return __builtin_cpu_supports("fma"); }
[[gnu::target("fma")]] float machine_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
bool machine_has_fma() { return true; }
float machine_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#endif

constexpr std::uint64_t operand_count = 100'000'000;

// Whether product + addend lies exactly halfway between two normal floats. The product is exact in double; the sum is exact if subtracting
// either operand gives the other.
bool is_tie(double product, double addend) {
  const double sum = product + addend, size = std::fabs(sum);
  const bool sum_is_exact = sum - product == addend && sum - addend == product;
  return sum_is_exact && size >= 0x1p-126 && size < 0x1p128 && (__builtin_bit_cast(std::uint64_t, sum) & 0x1fffffff) == 0x10000000;
}

bool are_finite(const Operands& o) { return std::isfinite(o[0]) && std::isfinite(o[1]) && std::isfinite(o[2]); }

// Kinds of results that easily go wrong; the test requires a minimum of each.
struct Kind {
  const char* name;
  bool (*has)(const Operands&, float result);
};
constexpr Kind kinds[] = {
    {"subnormal", [](const Operands&, float result) { return std::fpclassify(result) == FP_SUBNORMAL; }},
    {"zero", [](const Operands&, float result) { return result == 0 && !std::signbit(result); }},
    {"-0", [](const Operands&, float result) { return result == 0 && std::signbit(result); }},
    {"overflow", [](const Operands& o, float result) { return are_finite(o) && std::isinf(result); }},
    {"tie",
     [](const Operands& o, float) {
       return are_finite(o) && is_tie(static_cast<double>(o[0]) * static_cast<double>(o[1]), static_cast<double>(o[2]));
     }},
    {"cancelled by 20 bits or more",
     [](const Operands& o, float result) { return are_finite(o) && result != 0 && std::fabs(result) < std::fabs(o[2]) * 0x1p-20f; }},
    {"from NaN or infinity", [](const Operands& o, float) { return !are_finite(o); }},
};

float in_vectors(float a, float b, float c) {
  std::array<float, native_port::lanes> result;
  native_port::store(result.data(), native_port::fma(native_port::splat(a), native_port::splat(b), native_port::splat(c)));
  return result.back();
}

float as_multiple(float a, float b, float c) {
  port::detail::add_multiple_in_integers(a, &b, 1, &c, 1);
  return c;
}

// What is compared with the machine's fma; and from_halves: the product of mantissas, as a Cortex-M0 computes it from their halves.
enum { in_double, in_integers, as_a_multiple, in_this_build, in_its_vectors, from_halves, functions };

struct Report {
  std::array<Mistakes<3>, functions> mistakes;
  std::array<std::uint64_t, std::size(kinds)> of_kind = {};

  Report& operator+=(const Report& other) {
    for (std::size_t i = 0; i < functions; ++i) mistakes[i] += other.mistakes[i];
    for (std::size_t i = 0; i < std::size(kinds); ++i) of_kind[i] += other.of_kind[i];
    return *this;
  }
};

void check_piece(Report& report, std::uint64_t first, std::uint64_t last) {
  Randomness random(first);
  for (std::uint64_t i = first; i < last; ++i) {
    const Operands operands = draw(random);
    const auto [a, b, c] = operands;
    const float exact = machine_fma(a, b, c);
    const std::uint32_t m = bits_of(a) & 0xffffffu, n = bits_of(b) & 0xffffffu;
    const float results[] = {port::detail::fma_in_double(a, b, c), port::detail::fma_in_integers(a, b, c), as_multiple(a, b, c),
                             fma(a, b, c), in_vectors(a, b, c)};
    for (std::size_t f = 0; f < from_halves; ++f) report.mistakes[f].note(operands, bits_of(results[f]) == bits_of(exact));
    const bool is_exact = port::detail::multiply_in_halves(m, n) == std::uint64_t{256} * m * n;
    const bool is_high = port::detail::multiply_high_in_halves(m << 7, n << 7) == std::uint64_t{m} * n >> 18;
    report.mistakes[from_halves].note(operands, is_exact && is_high);
    for (std::size_t kind = 0; kind < std::size(kinds); ++kind) report.of_kind[kind] += kinds[kind].has(operands, exact);
  }
}

const Report& report() {
  static const auto all = in_parallel<Report>(operand_count, check_piece);
  return all;
}

template <std::size_t function>
void has_no_mistakes(Check& check) {
  report().mistakes[function].check_none(check);
}

constexpr Test tests[] = {
    at_run_time("every kind of result is one in a thousand or more",
                [](Check& check) {
                  for (std::size_t i = 0; i < std::size(kinds); ++i) {
                    std::printf("# %" PRIu64 " of %" PRIu64 " results: %s\n", report().of_kind[i], operand_count, kinds[i].name);
                    check.that(report().of_kind[i] >= operand_count / 1000);
                  }
                }),
    at_run_time("fma in double is the machine's", has_no_mistakes<in_double>),
    at_run_time("fma in integers is the machine's", has_no_mistakes<in_integers>),
    at_run_time("a multiple in integers is the machine's fma", has_no_mistakes<as_a_multiple>),
    at_run_time("fma of this build is the machine's", has_no_mistakes<in_this_build>),
    at_run_time("fma of this build's vectors is the machine's", has_no_mistakes<in_its_vectors>),
    at_run_time("the product from halves is exact", has_no_mistakes<from_halves>),
};

}}  // namespace tinyattn::test

int main() {
  if (tinyattn::test::machine_has_fma()) return tinyattn::test::run(tinyattn::test::tests);
  std::printf("1..0 # SKIP this machine has no fused multiply-add to compare with\n");
  return 0;
}
