// SPDX-License-Identifier: MIT
//
// fma rounds once, exp, log, tanh and erf stay within one ulp, sqrt is the nearest float; the references are wide integers and doubles.
#include "tinyattn/math.hpp"

#include <cstdint>
#include <utility>

#include "catalogue/guarded.hpp"
#include "exact.hpp"
#include "operands.hpp"

namespace tinyattn::test { namespace {

constexpr float largest = largest_float, smallest = 0x1p-149f;

// Single points: the operands, and the expected result.
struct FmaPoint {
  float a, b, c, expected;
};
struct Point {
  float x, expected;
};

template <std::size_t Count>
constexpr void check_points(Check& check, const FmaPoint (&points)[Count]) {
  for (const FmaPoint& p : points) check.same_bits(fma(opaque(p.a), p.b, p.c), p.expected);
}

template <std::size_t Count>
constexpr void check_points(Check& check, auto function, const Point (&points)[Count]) {
  for (const Point& p : points) check.same_bits(function(opaque(p.x)), p.expected);
}

constexpr void check_fma(Check& check, float a, float b, float c) { check.same_bits(fma(a, b, c), exact_fma(a, b, c)); }

template <std::size_t... N>
constexpr bool inverse_roots_are_nearest = (is_nearest_inverse_root(detail::inverse_sqrt<N>, N) && ...);

template <std::size_t... I>
constexpr bool inverse_roots_are_nearest_to(std::index_sequence<I...>) {
  return inverse_roots_are_nearest<I + 1 ...>;
}

constexpr bool log_is_within_one_ulp(float x) {
  const double exact = exact_log(static_cast<double>(x)), sign = exact < 0 ? -1 : 1;
  return within_one_ulp(static_cast<float>(sign) * log(opaque(x)), sign * exact);
}

// 1 / sqrt(n), which scales scores and bounds initial weights, is the nearest float.
static_assert(inverse_roots_are_nearest_to(std::make_index_sequence<80>{}));
static_assert(inverse_roots_are_nearest<96, 128, 256, 384, 512, 768, 1024, 2048, 4096>);

constexpr auto exp_of = [](float x) { return exp(x); };
constexpr auto log_of = [](float x) { return log(x); };
constexpr auto sqrt_of = [](float x) { return sqrt(x); };
constexpr auto tanh_of = [](float x) { return tanh(x); };
constexpr auto erf_of = [](float x) { return erf(x); };

constexpr float ulp_one = 0x1p-23f;  // from 1 to the next float

constexpr Test tests[] = {
    everywhere("fma at points that are worked out by hand, and a few by wide integers",
               [](Check& check) {
                 // fma keeps what rounding the product would lose.
                 check_points(check, {{1.0f + ulp_one, 1.0f + ulp_one, -(1.0f + 2 * ulp_one), 0x1p-46f},
                                      {3.0f, 4.0f, 5.0f, 17.0f},
                                      {0x1.fffffep0f, 0x1.fffffep0f, -0x1.fffffcp1f, 0x1p-46f}});
                 // fma rounds once, where computing in double would round twice. 4097 * 16773121 = 2^36 + 1: the sum lies above the
                 // midpoint of two floats by less than a double can hold. 262143 * 262145 = 2^36 - 1: below the midpoint.
                 check_points(check, {{4097.0f, 16773121.0f * 0x1p-60f, 1.0f, 1.0f + ulp_one},
                                      {-4097.0f, 16773121.0f * 0x1p-60f, -1.0f, -1.0f - ulp_one},
                                      {262143.0f, 262145.0f * 0x1p-60f, 1.0f + ulp_one, 1.0f + ulp_one},
                                      {262143.0f, -262145.0f * 0x1p-60f, -1.0f - ulp_one, -1.0f - ulp_one}});
                 // Ties go to even.
                 check_points(check, {{0x1p-12f, 0x1p-12f, 1.0f, 1.0f},
                                      {0x1p-12f, 0x1p-12f, 1.0f + ulp_one, 1.0f + 2 * ulp_one},
                                      {3.0f, 0x1p-25f, 1.0f, 1.0f + ulp_one}});
                 // The subnormal range.
                 check_points(check, {{0x1p-75f, 0x1p-75f, 0.0f, 0.0f},
                                      {0x1.000002p-75f, 0x1p-75f, 0.0f, smallest},
                                      {0x1p-75f, 0x1p-75f, smallest, 2 * smallest},
                                      {smallest, 0.5f, 0x1p-126f, 0x1p-126f},
                                      {0x1p-126f, 1.0f, -smallest, 0x1.fffffcp-127f},
                                      {smallest, 0x1p100f, 0.0f, 0x1p-49f}});
                 // The sign of an exact zero.
                 check_points(check, {{0.0f, 1.0f, 0.0f, 0.0f},
                                      {-0.0f, 1.0f, -0.0f, -0.0f},
                                      {-0.0f, 1.0f, 0.0f, 0.0f},
                                      {2.0f, 3.0f, -6.0f, 0.0f},
                                      {-2.0f, 3.0f, 6.0f, 0.0f}});
                 // The product overflows, but the sum does not.
                 check_points(check, {{0x1p100f, 0x1p28f, -0x1.fffffep127f, 0x1p104f},
                                      {largest, 2.0f, -largest, largest},
                                      {largest, 1.0f, 0x1p102f, largest}});
                 constexpr float values[] = {1.0f / 3, -0.1f, 0x1.fffffep20f, 0x1.8p-130f, -1e-20f, 7e18f};
                 for (std::size_t i = 0; i < 6; ++i) check_fma(check, opaque(values[i]), values[(i + 1) % 6], values[(i + 2) % 6]);
               }),
    everywhere("exp at points that everybody knows, and to the ends of the range",
               [](Check& check) {
                 struct {
                   float x;
                   double expected;
                 } const points[] = {{0.5f, 1.64872127070012815},       {1.0f, 2.71828182845904524},
                                     {-1.0f, 0.36787944117144232},      {10.0f, 22026.4657948067165},
                                     {-69.0f, 1.08063927770727849e-30}, {0.693147182464599609375f, 2.00000000380930860}};
                 for (const auto& p : points) check.that(within_one_ulp(exp(opaque(p.x)), p.expected));
                 for (const float x : {88.72283f, -87.4f, -103.0f})
                   check.that(within_one_ulp(exp(opaque(x)), exact_exp(static_cast<double>(x))));
                 check_points(check, exp_of, {{0.0f, 1.0f}, {-0.0f, 1.0f}, {smallest, 1.0f}, {-104.0f, 0.0f}, {-largest, 0.0f}});
               }),
    // These points were searched for: moving any constant, except the low part of ln 2, to a neighbouring float would change one of these
    // bits. Computed with the fma in tests/ports/arithmetic/coefficients.py.
    everywhere("exp of a few numbers, bit for bit",
               [](Check& check) {
                 check_points(check, exp_of,
                              {{0x1.ab587ap+4f, 0x1.72700ep+38f},
                               {-0x1.ab490ap+4f, 0x1.632a88p-39f},
                               {-0x1.76ce2cp+2f, 0x1.771744p-9f},
                               {0x1.ab7a6cp+4f, 0x1.75853ap+38f},
                               {0x1.86f096p+5f, 0x1.6a4148p+70f},
                               {0x1.c3ee94p+5f, 0x1.6a09b8p+81f},
                               {-0x1.2f9936p+6f, 0x1.6a098cp-110f},
                               {-0x1.b34bep+5f, 0x1.6a0a66p-79f},
                               {-0x1.f3a844p+3f, 0x1.6368fep-23f},
                               {0x1.cf213ep+5f, 0x1.6ef022p+83f},
                               {0x1.0270fap+5f, 0x1.85c696p+46f}});
               }),
    // Evaluated in the compiler too, where a sum or a product that overflows is no constant expression.
    everywhere("exp beyond the largest float",
               [](Check& check) {
                 for (const float x : {88.73f, 89.0f, 1000.0f, 1e10f, largest}) check.equal(exp(opaque(x)), infinity);
               }),
    at_run_time("exp within one ulp, from -103 to 88, and of infinities and NaN",
                [](Check& check) {
                  float before = 0.0f;
                  for (float x = -103.0f; x < 88.7f; x += 0.0390625f) {
                    const float y = exp(opaque(x));
                    check.that(within_one_ulp(y, exact_exp(static_cast<double>(x))));
                    check.that(y >= before);
                    before = y;
                  }
                  check_points(check, exp_of, {{infinity, infinity}, {-infinity, 0.0f}, {quiet_nan, quiet_nan}});
                }),
    everywhere("log around 1 and sqrt(1/2), where its terms cancel or its exponent changes, of subnormals and of the largest",
               [](Check& check) {
                 for (const float x :
                      {0x1.fffffep-1f, 0x1.000002p0f, 0.9f, 1.1f, 0x1.6a09e4p-1f, 0x1.6a09e6p-1f, 0x1.6a09e8p-1f, 0x1.65fb56p-1f, 1.5f,
                       2.0f, 3.0f, 10.0f, 0x1p-126f, 0x1.fffffcp-127f, 3 * smallest, smallest, largest})
                   check.that(log_is_within_one_ulp(x));
                 check.same_bits(log(opaque(1.0f)), 0.0f);
               }),
    at_run_time(
        "log of numbers of any size rises; of zeros, negative numbers, infinities and NaN",
        [](Check& check) {
          float before = -infinity;
          for (float x = smallest; x < 0x1p127f; x *= x < 0x1p-100f ? 2.0f : 1.0078125f) {
            const float y = log(opaque(x));
            check.that(log_is_within_one_ulp(x) && y > before);
            before = y;
          }
          check_points(check, log_of, {{0.0f, -infinity}, {-0.0f, -infinity}, {infinity, infinity}, {-infinity, quiet_nan}});
          check_points(check, log_of, {{-smallest, quiet_nan}, {-1.0f, quiet_nan}, {quiet_nan, quiet_nan}, {-quiet_nan, quiet_nan}});
        }),
    everywhere("tanh and erf on both sides of 1, where their forms meet, and to the ends of the range",
               [](Check& check) {
                 struct {
                   float x;
                   double tanh, erf;
                 } const points[] = {
                     {0.25f, 0.244918662403709129, 0.276326390168236933}, {0.5f, 0.462117157260009759, 0.520499877813046538},
                     {1.0f, 0.761594155955764888, 0.842700792949714869},  {1.5f, 0.905148253644866438, 0.966105146475310727},
                     {2.0f, 0.964027580075816884, 0.995322265018952734},  {3.0f, 0.995054753686730451, 0.999977909503001415},
                     {5.0f, 0.999909204262595131, 0.99999999999846254},   {40.0f, 1.0, 1.0},
                     {0x1p-60f, 0x1p-60, 1.1283791670955126 * 0x1p-60}};
                 for (const auto& p : points) {
                   check.that(within_one_ulp(tanh(opaque(p.x)), p.tanh) && within_one_ulp(erf(opaque(p.x)), p.erf));
                   check.that(tanh(opaque(-p.x)) == -tanh(p.x) && erf(opaque(-p.x)) == -erf(p.x));
                 }
                 for (const auto& function : {+tanh_of, +erf_of})
                   check_points(check, function, {{0.0f, 0.0f}, {-0.0f, -0.0f}, {largest, 1.0f}, {-largest, -1.0f}});
               }),
    at_run_time("tanh and erf of infinities and NaN",
                [](Check& check) {
                  for (const auto& function : {+tanh_of, +erf_of})
                    check_points(check, function, {{infinity, 1.0f}, {-infinity, -1.0f}, {quiet_nan, quiet_nan}});
                }),
    everywhere("sqrt of squares, and of a few others the nearest float",
               [](Check& check) {
                 for (int i = 0; i <= 40; ++i) check.equal(sqrt(opaque(static_cast<float>(i * i))), static_cast<float>(i));
                 check_points(check, sqrt_of, {{4095.0f * 4095.0f, 4095.0f}, {0x1p-126f, 0x1p-63f}, {0x1p-148f, 0x1p-74f}, {0.25f, 0.5f}});
                 for (const float x : {2.0f, 3.0f, 0.1f, 1e30f, largest, smallest, 0x1.fffffep-127f, 0x1.000002p0f})
                   check.that(is_nearest_root(sqrt(opaque(x)), x));
               }),
    at_run_time(
        "sqrt is the nearest float, of every exponent, and at its edges",
        [](Check& check) {
          std::uint32_t state = 4;
          for (int i = 0; i < 4000; ++i) {
            const float x = __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, any_finite(state)) & 0x7fffffffu);
            if (x != 0.0f) check.that(is_nearest_root(sqrt(x), x));
          }
          check_points(check, sqrt_of, {{0.0f, 0.0f}, {-0.0f, -0.0f}, {infinity, infinity}, {-1.0f, quiet_nan}, {quiet_nan, quiet_nan}});
        }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
