// SPDX-License-Identifier: MIT
//
// fma rounds once, exp stays within one ulp, sqrt is the nearest float: against arithmetic in wide integers and in double.
#include "tinyattn/math.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "exact.hpp"
#include "operands.hpp"
#include "support/check.hpp"

using namespace tinyattn::test;
using tinyattn::exp;
using tinyattn::fma;
using tinyattn::sqrt;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();
constexpr float largest = std::numeric_limits<float>::max();
constexpr float smallest = 0x1p-149f;

template <std::size_t... N>
constexpr void check_inverse_roots(Check& check, std::index_sequence<N...>) {
  (check.that(is_nearest_inverse_root(tinyattn::detail::inverse_sqrt<N>, N)), ...);
}

template <std::size_t First, std::size_t... I>
constexpr auto counting_from(std::index_sequence<I...>) {
  return std::index_sequence<First + I...>{};
}

constexpr Test tests[] = {
    everywhere("fma keeps what a rounded product loses",
               [](Check& check) {
                 const float a = hidden(1.0f + 0x1p-23f);
                 check.equal(fma(a, a, -(1.0f + 0x1p-22f)), 0x1p-46f);
                 check.equal(fma(hidden(3.0f), 4.0f, 5.0f), 17.0f);
                 check.equal(fma(hidden(0x1.fffffep0f), 0x1.fffffep0f, -0x1.fffffcp1f), 0x1p-46f);
               }),
    everywhere("fma rounds once where a double rounds twice",
               [](Check& check) {
                 // 4097 * 16773121 = 2^36 + 1: the sum lies just above the middle between two floats, further out than a double sees.
                 check.equal(fma(hidden(4097.0f), 16773121.0f * 0x1p-60f, 1.0f), 1.0f + 0x1p-23f);
                 check.equal(fma(hidden(-4097.0f), 16773121.0f * 0x1p-60f, -1.0f), -1.0f - 0x1p-23f);
                 // 262143 * 262145 = 2^36 - 1: just below the middle.
                 check.equal(fma(hidden(262143.0f), 262145.0f * 0x1p-60f, 1.0f + 0x1p-23f), 1.0f + 0x1p-23f);
                 check.equal(fma(hidden(262143.0f), -262145.0f * 0x1p-60f, -1.0f - 0x1p-23f), -1.0f - 0x1p-23f);
               }),
    everywhere("fma breaks ties to even",
               [](Check& check) {
                 check.equal(fma(hidden(0x1p-12f), 0x1p-12f, 1.0f), 1.0f);
                 check.equal(fma(hidden(0x1p-12f), 0x1p-12f, 1.0f + 0x1p-23f), 1.0f + 0x1p-22f);
                 check.equal(fma(hidden(3.0f), 0x1p-25f, 1.0f), 1.0f + 0x1p-23f);
               }),
    everywhere("fma in the subnormal range",
               [](Check& check) {
                 check.equal(fma(hidden(0x1p-75f), 0x1p-75f, 0.0f), 0.0f);
                 check.equal(fma(hidden(0x1.000002p-75f), 0x1p-75f, 0.0f), smallest);
                 check.equal(fma(hidden(0x1p-75f), 0x1p-75f, smallest), 2 * smallest);
                 check.equal(fma(hidden(smallest), 0.5f, 0x1p-126f), 0x1p-126f);
                 check.equal(fma(hidden(0x1p-126f), 1.0f, -smallest), 0x1.fffffcp-127f);
                 check.equal(fma(hidden(smallest), 0x1p100f, 0.0f), 0x1p-49f);
               }),
    everywhere("the sign of an exact zero",
               [](Check& check) {
                 check.same_bits(fma(hidden(0.0f), 1.0f, 0.0f), 0.0f);
                 check.same_bits(fma(hidden(-0.0f), 1.0f, -0.0f), -0.0f);
                 check.same_bits(fma(hidden(-0.0f), 1.0f, 0.0f), 0.0f);
                 check.same_bits(fma(hidden(2.0f), 3.0f, -6.0f), 0.0f);
                 check.same_bits(fma(hidden(-2.0f), 3.0f, 6.0f), 0.0f);
               }),
    everywhere("fma of large numbers stays finite while the sum is",
               [](Check& check) {
                 check.equal(fma(hidden(0x1p100f), 0x1p28f, -0x1.fffffep127f), 0x1p104f);
                 check.equal(fma(hidden(largest), 2.0f, -largest), largest);
                 check.equal(fma(hidden(largest), 1.0f, 0x1p102f), largest);
               }),
    at_run_time("fma overflows, and carries infinity and NaN",
                [](Check& check) {
                  check.equal(fma(hidden(largest), 1.0f, 0x1p103f), infinity);
                  check.equal(fma(hidden(-0x1p64f), 0x1p64f, 0.0f), -infinity);
                  check.equal(fma(hidden(infinity), 2.0f, 1.0f), infinity);
                  check.equal(fma(hidden(2.0f), -3.0f, infinity), infinity);
                  check.equal(fma(hidden(0x1p127f), 0x1p127f, -infinity), -infinity);
                  check.same_bits(fma(hidden(infinity), 1.0f, -infinity), quiet_nan);
                  check.same_bits(fma(hidden(0.0f), infinity, 1.0f), quiet_nan);
                  check.same_bits(fma(hidden(quiet_nan), 0.0f, 1.0f), quiet_nan);
                  check.same_bits(fma(hidden(0.0f), quiet_nan, 1.0f), quiet_nan);
                  check.same_bits(fma(hidden(0.0f), 1.0f, quiet_nan), quiet_nan);
                }),
    everywhere(
        "fma against wide integers, a few",
        [](Check& check) {
          const std::array<float, 6> values = hidden(std::array<float, 6>{1.0f / 3, -0.1f, 0x1.fffffep20f, 0x1.8p-130f, -1e-20f, 7e18f});
          for (std::size_t i = 0; i < 6; ++i) {
            check.same_bits(fma(values[i], values[(i + 1) % 6], values[(i + 2) % 6]),
                            exact_fma(values[i], values[(i + 1) % 6], values[(i + 2) % 6]));
          }
        }),
    at_run_time("fma against wide integers, of every exponent",
                [](Check& check) {
                  std::uint32_t state = 1;
                  for (int i = 0; i < 4000; ++i) {
                    const float a = any_finite(state);
                    const float b = any_finite(state);
                    const float c = any_finite(state);
                    check.same_bits(fma(a, b, c), exact_fma(a, b, c));
                  }
                }),
    at_run_time("fma against wide integers, where terms meet and cancel",
                [](Check& check) {
                  std::uint32_t state = 2;
                  for (int i = 0; i < 4000; ++i) {
                    const float a = near_one(state);
                    const float b = near_one(state);
                    const float product = exact_fma(a, b, 0.0f);
                    check.same_bits(fma(a, b, -product), exact_fma(a, b, -product));
                    const float c = near_one(state);
                    check.same_bits(fma(a, b, c), exact_fma(a, b, c));
                  }
                }),
    at_run_time("fma against wide integers, down among the subnormals",
                [](Check& check) {
                  std::uint32_t state = 3;
                  for (int i = 0; i < 4000; ++i) {
                    const float a = near_one(state) * 0x1p-63f;
                    const float b = near_one(state) * 0x1p-64f;
                    const float c = std::bit_cast<float>(next(state) & 0x81ffffffu);
                    check.same_bits(fma(a, b, c), exact_fma(a, b, c));
                  }
                }),
    everywhere("exp at points that everybody knows",
               [](Check& check) {
                 check.same_bits(exp(hidden(0.0f)), 1.0f);
                 check.same_bits(exp(hidden(-0.0f)), 1.0f);
                 check.that(within_one_ulp(exp(hidden(1.0f)), 2.71828182845904524));
                 check.that(within_one_ulp(exp(hidden(-1.0f)), 0.36787944117144232));
                 check.that(within_one_ulp(exp(hidden(0.5f)), 1.64872127070012815));
                 check.that(within_one_ulp(exp(hidden(10.0f)), 22026.4657948067165));
                 check.that(within_one_ulp(exp(hidden(-69.0f)), 1.08063927770727849e-30));
                 check.that(within_one_ulp(exp(hidden(0.693147182464599609375f)), 2.00000000380930860));
               }),
    // Sought so that each of the constants but the low part of ln 2, moved to the next float on either side, changes one of these bits.
    // Computed with the fma in tests/reference/exp_coefficients.py.
    everywhere("exp of a few numbers, bit for bit",
               [](Check& check) {
                 check.same_bits(exp(hidden(0x1.ab587ap+4f)), 0x1.72700ep+38f);
                 check.same_bits(exp(hidden(-0x1.ab490ap+4f)), 0x1.632a88p-39f);
                 check.same_bits(exp(hidden(-0x1.76ce2cp+2f)), 0x1.771744p-9f);
                 check.same_bits(exp(hidden(0x1.ab7a6cp+4f)), 0x1.75853ap+38f);
                 check.same_bits(exp(hidden(0x1.86f096p+5f)), 0x1.6a4148p+70f);
                 check.same_bits(exp(hidden(0x1.c3ee94p+5f)), 0x1.6a09b8p+81f);
                 check.same_bits(exp(hidden(-0x1.2f9936p+6f)), 0x1.6a098cp-110f);
                 check.same_bits(exp(hidden(-0x1.b34bep+5f)), 0x1.6a0a66p-79f);
                 check.same_bits(exp(hidden(-0x1.f3a844p+3f)), 0x1.6368fep-23f);
                 check.same_bits(exp(hidden(0x1.cf213ep+5f)), 0x1.6ef022p+83f);
                 check.same_bits(exp(hidden(0x1.0270fap+5f)), 0x1.85c696p+46f);
               }),
    everywhere("exp to the ends of the range",
               [](Check& check) {
                 check.that(within_one_ulp(exp(hidden(88.72283f)), exact_exp(static_cast<double>(88.72283f))));
                 check.that(within_one_ulp(exp(hidden(-87.4f)), exact_exp(static_cast<double>(-87.4f))));
                 check.that(within_one_ulp(exp(hidden(-103.0f)), exact_exp(static_cast<double>(-103.0f))));
                 check.equal(exp(hidden(-104.0f)), 0.0f);
                 check.equal(exp(hidden(-largest)), 0.0f);
                 check.equal(exp(hidden(smallest)), 1.0f);
               }),
    // In the compiler too, where a sum or a product that overflows is no constant.
    everywhere("exp beyond the largest float",
               [](Check& check) {
                 for (const float x : {88.73f, 89.0f, 1000.0f, 1e10f, largest}) check.equal(exp(hidden(x)), infinity);
               }),
    at_run_time("exp of infinities and NaN",
                [](Check& check) {
                  check.equal(exp(hidden(infinity)), infinity);
                  check.same_bits(exp(hidden(-infinity)), 0.0f);
                  check.same_bits(exp(hidden(quiet_nan)), quiet_nan);
                }),
    at_run_time("exp within one ulp, from -103 to 88",
                [](Check& check) {
                  float before = 0.0f;
                  for (float x = -103.0f; x < 88.7f; x += 0.0390625f) {
                    const float y = exp(hidden(x));
                    check.that(within_one_ulp(y, exact_exp(static_cast<double>(x))));
                    check.that(y >= before);
                    before = y;
                  }
                }),
    everywhere("sqrt of squares",
               [](Check& check) {
                 for (int i = 0; i <= 40; ++i) check.equal(sqrt(hidden(static_cast<float>(i * i))), static_cast<float>(i));
                 check.equal(sqrt(hidden(4095.0f * 4095.0f)), 4095.0f);
                 check.equal(sqrt(hidden(0x1p-126f)), 0x1p-63f);
                 check.equal(sqrt(hidden(0x1p-148f)), 0x1p-74f);
                 check.equal(sqrt(hidden(0.25f)), 0.5f);
               }),
    everywhere("sqrt is the nearest float, a few",
               [](Check& check) {
                 check.equal(sqrt(hidden(2.0f)), 1.41421356f);
                 const std::array<float, 8> values =
                     hidden(std::array<float, 8>{2.0f, 3.0f, 0.1f, 1e30f, largest, smallest, 0x1.fffffep-127f, 0x1.000002p0f});
                 for (float x : values) check.that(is_nearest_root(sqrt(x), x));
               }),
    at_run_time("sqrt is the nearest float, of every exponent",
                [](Check& check) {
                  std::uint32_t state = 4;
                  for (int i = 0; i < 4000; ++i) {
                    const float x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(any_finite(state)) & 0x7fffffffu);
                    if (x != 0.0f) check.that(is_nearest_root(sqrt(x), x));
                  }
                }),
    everywhere("1 / sqrt(n), the scale of scores and the bound of first weights, is the nearest float",
               [](Check& check) {
                 check_inverse_roots(check, counting_from<1>(std::make_index_sequence<80>{}));
                 check_inverse_roots(check, std::index_sequence<96, 128, 256, 384, 512, 768, 1024, 2048, 4096>{});
               }),
    at_run_time("sqrt at its edges",
                [](Check& check) {
                  check.same_bits(sqrt(hidden(0.0f)), 0.0f);
                  check.same_bits(sqrt(hidden(-0.0f)), -0.0f);
                  check.equal(sqrt(hidden(infinity)), infinity);
                  check.same_bits(sqrt(hidden(-1.0f)), quiet_nan);
                  check.same_bits(sqrt(hidden(quiet_nan)), quiet_nan);
                }),
};

}  // namespace

int main() { return run(tests); }
