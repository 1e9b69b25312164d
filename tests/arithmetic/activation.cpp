// SPDX-License-Identifier: MIT
//
// tanh, erf and the activations of all 2^32 floats, against libm in double. The limits are those of include/tinyattn/README.md.
#include "tinyattn/activation.hpp"

#include <cmath>
#include <cstdio>
#include <limits>

#include "in_parallel.hpp"
#include "ulp.hpp"

namespace tinyattn::test { namespace {

using Native = native_port::one_lane;

// `limits`: the largest errors allowed for a positive and for a negative x, in ulp. `is_odd`: f(-x) = -f(x), bit for bit.
struct Function {
  const char* name;
  float (*ours)(float);
  float (*on_scalar_port)(float);
  double (*exact)(double);
  double limits[2];
  bool is_odd = false;
};

double logistic(double x, double u) { return x / (1 + std::exp(-u)); }

const Function functions[] = {
    {"tanh", [](float x) { return tanh(x); }, kernel::tanh<port::scalar>, [](double x) { return std::tanh(x); }, {1.0, 1.0}, true},
    {"erf", [](float x) { return erf(x); }, kernel::erf<port::scalar>, [](double x) { return std::erf(x); }, {1.0, 1.0}, true},
    {"gelu",
     [](float x) { return kernel::gelu<Native>(x); },
     [](float x) { return kernel::gelu<port::scalar>(x); },
     [](double x) { return x * std::erfc(-x * std::sqrt(0.5)) / 2; },
     {3.5, 6.4}},
    {"gelu_tanh",
     [](float x) { return kernel::gelu_tanh<Native>(x); },
     [](float x) { return kernel::gelu_tanh<port::scalar>(x); },
     [](double x) { return logistic(x, std::sqrt(8 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)); },
     {2.0, 4.1}},
    {"silu",
     [](float x) { return kernel::silu<Native>(x); },
     [](float x) { return kernel::silu<port::scalar>(x); },
     [](double x) { return logistic(x, x); },
     {1.7, 3.6}},
};

struct Report {
  Mistakes<1> every_float, on_scalar_port;
  double worst[2] = {};
  float where[2] = {};

  void consider(bool is_negative, double error, float x) {
    if (error < worst[is_negative] || (error == worst[is_negative] && where[is_negative] <= x)) return;
    worst[is_negative] = error;
    where[is_negative] = x;
  }
  Report& operator+=(const Report& other) {
    every_float += other.every_float;
    on_scalar_port += other.on_scalar_port;
    for (const bool side : {false, true}) consider(side, other.worst[side], other.where[side]);
    return *this;
  }
};

// Returns whether y is near enough to f(x). Where the exact value of an activation lies below 2^-100, an error below 2^-100 is allowed: y
// may be 0 there.
bool is_right(Report& report, const Function& f, float x, float y) {
  if (x != x) return y != y;
  if (std::isinf(x) && !f.is_odd) return y == (x > 0 ? x : 0.0f);
  const double exact = f.exact(static_cast<double>(x)), error = std::fabs(static_cast<double>(y) - exact);
  if (!f.is_odd && std::fabs(exact) < 0x1p-100) return error < 0x1p-100;
  const double ulps = error * ulps_per_unit(exact);
  report.consider(std::signbit(x), ulps, x);
  return ulps <= f.limits[std::signbit(x)];
}

template <std::size_t index>
void check_piece(Report& report, std::uint64_t first, std::uint64_t last) {
  const Function& f = functions[index];
  for (std::uint64_t bits = first; bits < last; ++bits) {
    const float x = from_bits(bits), y = f.ours(x);
    const bool is_mirrored = !f.is_odd || bits_of(f.ours(-x)) == bits_of(-y);
    report.every_float.note({x}, is_right(report, f, x, y) && is_mirrored);
    // Checks the scalar port, which has no FMA unit and so is slow, on every 61st float.
    if (bits % 61 == 0) report.on_scalar_port.note({x}, bits_of(f.on_scalar_port(x)) == bits_of(y));
  }
}

template <std::size_t index>
void check_function(Check& check) {
  const Report report = in_parallel<Report>(std::uint64_t{1} << 32, std::uint64_t{1} << 22, check_piece<index>);
  for (const bool side : {false, true})
    std::printf("# %s %s 0: at most %.4f ulp, at %a\n", functions[index].name, side ? "below" : "above", report.worst[side],
                static_cast<double>(report.where[side]));
  report.every_float.check_none(check);
  report.on_scalar_port.check_none(check);
  check.equal(report.every_float.checked, std::uint64_t{1} << 32);
}

constexpr Test tests[] = {
    at_run_time("tanh is within 1 ulp, and odd", check_function<0>),
    at_run_time("erf is within 1 ulp, and odd", check_function<1>),
    at_run_time("gelu is as near as it is said to be, and finite", check_function<2>),
    at_run_time("gelu_tanh is as near as it is said to be, and finite", check_function<3>),
    at_run_time("silu is as near as it is said to be, and finite", check_function<4>),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
