// SPDX-License-Identifier: MIT
//
// The functions of single numbers on all 2^32 floats, compared with libm in double, or bit for bit with an equivalent. Arguments are names
// of functions in the table below, to check only these: functions exp silu
#include "in_parallel.hpp"
#include "tinyattn/activation.hpp"
#include "tinyattn/port/exp_in_integers.hpp"
#include "tinyattn/training/kernel/activation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

namespace tinyattn::test { namespace {

using Native = native_port::one_lane;

// odd: f(-x) = -f(x), bit for bit. logarithm: NaN below 0. activation: may be 0 where its exact value is below 2^-100. slope: errors are
// multiples of 2^-24, the spacing of floats below 1, since a derivative has a zero, where no ulp is small enough.
enum class Kind { of_any, odd, logarithm, activation, slope };

// `limits`: the largest errors allowed for a positive and for a negative x, in ulp, those of activation_list.h.
struct Function {
  const char* name;
  float (*ours)(float);
  float (*on_scalar_port)(float);
  double (*exact)(double);
  double limits[2];
  Kind kind;
};

double logistic(double x, double u) { return x / (1 + std::exp(-u)); }
// The derivative of logistic; u_slope is the derivative of u.
double logistic_slope(double x, double u, double u_slope) {
  const double e = std::exp(-std::fabs(u)), share = 1 / (1 + e);
  return (u < 0 ? e : 1) * share + x * u_slope * e * share * share;
}

const double pi = std::acos(-1.0), gelu_tanh_factor = std::sqrt(8 / pi);

double gelu_slope(double x) { return std::erfc(-x * std::sqrt(0.5)) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * pi); }
double gelu_tanh_slope(double x) {
  return logistic_slope(x, gelu_tanh_factor * (x + 0.044715 * x * x * x), gelu_tanh_factor * (1 + 3 * 0.044715 * x * x));
}

const Function functions[] = {
#define FUNCTION(name) #name, [](float x) { return name(x); }, kernel::name < port::scalar>, [](double x) { return std::name(x); }
    {FUNCTION(exp), {1.0, 1.0}, Kind::of_any},
    {FUNCTION(tanh), {1.0, 1.0}, Kind::odd},
    {FUNCTION(erf), {1.0, 1.0}, Kind::odd},
    {FUNCTION(log), {1.0, 1.0}, Kind::logarithm},
#undef FUNCTION
#define ACTIVATION(name) #name, [](float x) { return kernel::name<Native>(x); }, [](float x) { return kernel::name<port::scalar>(x); }
    {ACTIVATION(gelu), [](double x) { return x * std::erfc(-x * std::sqrt(0.5)) / 2; }, {3.5, 6.4}, Kind::activation},
    {ACTIVATION(gelu_tanh),
     [](double x) { return logistic(x, gelu_tanh_factor * (x + 0.044715 * x * x * x)); },
     {2.0, 4.1},
     Kind::activation},
    {ACTIVATION(silu), [](double x) { return logistic(x, x); }, {1.7, 3.6}, Kind::activation},
#undef ACTIVATION
#define SLOPE(name)                                                                               \
  "the derivative of " #name, [](float x) { return kernel::name##_with_slope<Native>(x).slope; }, \
      [](float x) { return kernel::name##_with_slope<port::scalar>(x).slope; }
    {SLOPE(gelu), gelu_slope, {2.6, 2.2}, Kind::slope},
    {SLOPE(gelu_tanh), gelu_tanh_slope, {2.3, 1.4}, Kind::slope},
    {SLOPE(silu), [](double x) { return logistic_slope(x, x, 1); }, {1.9, 1.4}, Kind::slope},
#undef SLOPE
};
constexpr std::size_t first_activation = 4;
// All activations except relu, which is exact and checked by unit/activation.cpp; then their derivatives.
static_assert(std::size(functions) - first_activation == 2 * (kernel::num_activations - 1), "an activation has no row in this table");

// One over the spacing of the floats at x, 2^-149 <= spacing <= 2^104.
double ulps_per_unit(double x) {
  const int exponent = std::clamp(static_cast<int>(__builtin_bit_cast(std::uint64_t, x) >> 52 & 0x7ff) - 1023, -126, 127);
  return __builtin_bit_cast(double, static_cast<std::uint64_t>(1023 + 23 - exponent) << 52);
}

struct Worst {
  double error = 0;
  float x = 0;

  // Of two equal errors it keeps the one with the smaller x, so that the order of the pieces does not matter.
  void consider(const Worst& other) {
    if (other.error > error || (other.error == error && other.x < x)) *this = other;
  }
};

struct Report {
  Mistakes<1> every_float, on_scalar_port;
  Worst worst[2];
  std::uint64_t not_nearest = 0;

  Report& operator+=(const Report& other) {
    every_float += other.every_float;
    on_scalar_port += other.on_scalar_port;
    not_nearest += other.not_nearest;
    for (const bool side : {false, true}) worst[side].consider(other.worst[side]);
    return *this;
  }
};

// An overflow counts as +-2^128, the number that would follow the largest float.
double or_overflow(double x) { return std::clamp(x, -0x1p128, 0x1p128); }

// Whether y is near enough to the derivative f(x), which is 0 or 1 at infinities. functions.hpp says 4 of all derivatives.
bool is_right_slope(Report& report, const Function& f, float x, float y) {
  if (std::isinf(x)) return y == (x > 0 ? 1.0f : 0.0f);
  const double error = std::fabs(static_cast<double>(y) - f.exact(static_cast<double>(x))) * 0x1p24;
  report.worst[std::signbit(x)].consider({error, x});
  return error <= std::min(f.limits[std::signbit(x)], 4.0);
}

// Returns whether y is near enough to f(x), and not negative if f(x) is not.
bool is_right(Report& report, const Function& f, float x, float y) {
  if (x != x || (f.kind == Kind::logarithm && x < 0)) return y != y;
  if (f.kind == Kind::slope) return is_right_slope(report, f, x, y);
  if (std::isinf(x) && f.kind != Kind::odd) return y == (x > 0 ? x : 0.0f) && (f.kind == Kind::activation || !std::signbit(y));
  const double exact = or_overflow(f.exact(static_cast<double>(x))), error = std::fabs(or_overflow(static_cast<double>(y)) - exact);
  if (!std::signbit(exact) && std::signbit(y)) return false;
  if (f.kind == Kind::activation && std::fabs(exact) < 0x1p-100) return error < 0x1p-100;
  const double ulps = error * ulps_per_unit(exact);
  report.worst[std::signbit(x)].consider({ulps, x});
  report.not_nearest += ulps > 0.5;
  return ulps <= f.limits[std::signbit(x)];
}

template <std::size_t index>
void check_piece(Report& report, std::uint64_t first, std::uint64_t last) {
  const Function& f = functions[index];
  for (std::uint64_t bits = first; bits < last; ++bits) {
    const float x = from_bits(bits), y = f.ours(x);
    const bool is_mirrored = f.kind != Kind::odd || bits_of(f.ours(-x)) == bits_of(-y);
    report.every_float.note({x}, is_right(report, f, x, y) && is_mirrored);
    // The scalar port has no FMA unit and is slow: every 61st float.
    if (bits % 61 == 0) report.on_scalar_port.note({x}, bits_of(f.on_scalar_port(x)) == bits_of(y));
  }
}

template <std::size_t index>
void check_function(Check& check) {
  const auto report = in_parallel<Report>(all_floats, check_piece<index>);
  for (const bool side : {false, true})
    std::printf("# %s %s 0: at most %.5f %s, at %a\n", functions[index].name, side ? "below" : "above", report.worst[side].error,
                functions[index].kind == Kind::slope ? "times 2^-24" : "ulp", static_cast<double>(report.worst[side].x));
  if (functions[index].kind != Kind::slope) std::printf("# %" PRIu64 " results are not the nearest float\n", report.not_nearest);
  report.every_float.check_none(check);
  report.on_scalar_port.check_none(check);
  check.equal(report.every_float.checked, all_floats);
}

// Calls each.operator()<index>() for every row of `functions`.
void for_each_function(auto each) {
  [&]<std::size_t... index>(std::index_sequence<index...>) { (each.template operator()<index>(), ...); }
  (std::make_index_sequence<std::size(functions)>{});
}

// Checks the named functions, each of which must be in the table.
bool check_named(int count, const char* const* names) {
  bool passed = true;
  for (int i = 0; i < count; ++i) {
    Check check;
    for_each_function([&]<std::size_t index> {
      if (std::strcmp(names[i], functions[index].name) == 0) check_function<index>(check);
    });
    std::printf("%s - %s\n", check.passed() ? "ok" : "not ok", names[i]);
    passed = check.passed() && passed;
  }
  return passed;
}

// Checks that two functions have the same bits from `from` to `to`.
template <auto ours, auto expected>
void check_equal(Check& check, float from, float to) {
  const auto mistakes = in_parallel<Mistakes<1>>(all_floats, [=](Mistakes<1>& piece, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t bits = first; bits < last; ++bits) {
      const float x = from_bits(bits);
      if (!(x < from || x > to)) piece.note({x}, bits_of(ours(x)) == bits_of(expected(x)));
    }
  });
  mistakes.check_none(check);
}

constexpr auto machine_sqrt = [](float x) { return std::sqrt(x); };
constexpr auto our_sqrt = [](float x) { return sqrt(x); };
constexpr auto short_exp = [](float x) { return kernel::exp_of_nonpositive<Native>(x); };
constexpr auto exp_in_integers = [](float x) { return x == x ? port::detail::exp_of_nonpositive_in_integers(x) : short_exp(x); };

constexpr Test tests[] = {
    at_run_time("exp is within 1 ulp, and not negative", check_function<0>),
    at_run_time("tanh is within 1 ulp, and odd", check_function<1>),
    at_run_time("erf is within 1 ulp, and odd", check_function<2>),
    at_run_time("log is within 1 ulp, -infinity for zeros, NaN below", check_function<3>),
    at_run_time("activations are within their limits, and finite",
                [](Check& check) {
                  for_each_function([&]<std::size_t index> {
                    if (index >= first_activation) check_function<index>(check);
                  });
                }),
    at_run_time("the root of every float is the machine's, which IEEE 754 requires to be correctly rounded",
                [](Check& check) { check_equal<our_sqrt, machine_sqrt>(check, -INFINITY, INFINITY); }),
    at_run_time("the short form of exp that softmax uses has the same bits from -69 to 0",
                [](Check& check) { check_equal<short_exp, [](float x) { return exp(x); }>(check, -69.0f, 0.0f); }),
    at_run_time("so has its form in integers, from -87 to 0",
                [](Check& check) { check_equal<exp_in_integers, short_exp>(check, -87.0f, 0.0f); }),
};

}}  // namespace tinyattn::test

int main(int argc, char** argv) {
  using namespace tinyattn::test;
  return argc < 2 ? run(tests) : check_named(argc - 1, argv + 1) ? 0 : 1;
}
