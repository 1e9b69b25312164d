// SPDX-License-Identifier: MIT
//
// Checks the contract of ports, bit for bit against the scalar port: of this build's port, and of the port for cores without an FPU, which
// every machine can execute.
#include <array>
#include <cstddef>
#include <cstdint>

#include "catalogue/draw.hpp"
#include "support/check.hpp"
#include "tinyattn/kernel/int8/product.hpp"
#include "tinyattn/kernel/size.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/port/contract.hpp"
#include "tinyattn/port/mul_in_integers.hpp"
#include "tinyattn/port/native.hpp"
#include "tinyattn/port/soft.hpp"
#include "tinyattn/port/sqrt_by_table.hpp"
#include "unit/exact.hpp"
#include "unit/operands.hpp"

namespace tinyattn::test { namespace {

using Reference = port::scalar;

// Checks a port and its `half`, again and again down to four lanes.
template <class Port>
consteval bool keeps_the_contract() {
  if constexpr (requires { requires Port::half::lanes >= 4; })
    return port::contract<Port> && keeps_the_contract<typename Port::half>();
  else
    return port::contract<Port>;
}
static_assert(keeps_the_contract<native_port>() && keeps_the_contract<native_port::one_lane>());
static_assert(keeps_the_contract<Reference>() && keeps_the_contract<port::soft>());

template <class Port>
using Lanes = std::array<float, Port::lanes>;

// Random lanes of either sign, some of them 0, with exponents so close that the terms of a sum overlap.
template <class Port>
Lanes<Port> any_lanes(std::uint32_t& state) {
  Lanes<Port> lanes{};
  for (float& lane : lanes) {
    const std::uint32_t bits = next(state) ^ next(state) >> 16;
    lane = bits % 16 == 0 ? 0.0f : __builtin_bit_cast(float, (bits & 0x87ffffffu) | 0x38000000u);
  }
  return opaque(lanes);
}

template <class Port>
Lanes<Port> stored(typename Port::vec v) {
  Lanes<Port> lanes{};
  Port::store(lanes.data(), v);
  return lanes;
}

// Like two other checks, this one goes on to Port::half and its halves, which a port offers for short rows.
template <class Port>
void check_arithmetic(Check& check) {
  std::uint32_t state = 1;
  for (int i = 0; i < 1000; ++i) {
    const auto a = any_lanes<Port>(state), b = any_lanes<Port>(state), c = any_lanes<Port>(state), d = any_lanes<Port>(state);
    const auto x = Port::load(a.data()), y = Port::load(b.data()), z = Port::load(c.data()), w = Port::load(d.data());
    const auto s = Port::broadcast(a[0]);
    const auto check_lanes = [&](typename Port::vec v, auto expected) {
      const auto lanes = stored<Port>(v);
      for (std::size_t q = 0; q < Port::lanes; ++q) check.same_bits(lanes[q], expected(q));
    };
    const auto fma = Reference::fma;
    const auto mul = Reference::mul, add = Reference::add;
    check_lanes(Port::fma(x, y, z), [&](auto q) { return fma(a[q], b[q], c[q]); });
    check_lanes(Port::fma(s, y, z), [&](auto q) { return fma(a[0], b[q], c[q]); });
    check_lanes(Port::fma(y, z, s), [&](auto q) { return fma(b[q], c[q], a[0]); });
    check_lanes(Port::mul(x, y), [&](auto q) { return mul(a[q], b[q]); });
    check_lanes(Port::mul(y, s), [&](auto q) { return mul(b[q], a[0]); });
    check_lanes(Port::add(x, y), [&](auto q) { return add(a[q], b[q]); });
    check_lanes(Port::add(y, s), [&](auto q) { return add(b[q], a[0]); });
    check_lanes(Port::add(Port::mul(x, y), z), [&](auto q) { return add(mul(a[q], b[q]), c[q]); });
    check_lanes(kernel::quotient<Port>(x, y), [&](auto q) { return Reference::divide(a[q], b[q]); });
    check.same_bits(port::detail::quick_square_root(a[0]), port::detail::sqrt_in_integers(a[0]));
    if constexpr (requires { Port::square_root(x); })
      check_lanes(Port::square_root(x), [&](auto q) { return port::detail::sqrt_in_integers(a[q]); });
    check_lanes(Port::select_less(x, y, z, w), [&](auto q) { return a[q] < b[q] ? c[q] : d[q]; });
  }
  if constexpr (requires { Port::half::lanes; }) check_arithmetic<typename Port::half>(check);
}

// Every second product has operands of so few bits that it is often halfway between two floats.
void check_products(Check& check) {
  std::uint32_t state = 1;
  for (unsigned i = 0; i < 4000; ++i) {
    const auto any = [&] {
      const std::uint32_t bits = next(state) ^ next(state) << 16;
      return opaque(__builtin_bit_cast(float, i % 2 == 0 ? bits : bits & 0xfffff800u));
    };
    const float a = any(), b = any(), product = Reference::mul(a, b);
    if (product == product) check.same_bits(port::detail::multiply_in_integers(a, b), product);
    const float near = __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, a) ^ (next(state) & 0x83ffffffu));
    const float square = Reference::mul(near, near), with_square = Reference::fma(a, a, square);
    if (with_square == with_square) check.same_bits(port::detail::add_square_in_integers(a, square), with_square);
    float out[] = {a, near};
    const float twice = Reference::mul(product, near);
    port::detail::multiply_twice_in_integers(out, b, &near, out, 1);
    if (twice == twice) check.same_bits(out[0], twice);
    check.same_bits(out[1], near);
    for (const float other : {b, near, -a, a * 0.0f}) {
      const float sum = Reference::add(a, other);
      if (sum == sum) check.same_bits(port::detail::add_in_integers(a, other), sum);
      check.that(port::detail::is_less_in_integers(a, other) == (a < other));
    }
  }
}

template <class Single>
void check_exact(Check& check, float a, float b, float c, int line = __builtin_LINE()) {
  check.same_bits(Single::fma(a, b, c), exact_fma(a, b, c), line);
}

// Sums that miss the midpoint of two floats by one bit, at every distance: 97 * 172961 is 2^24 + 1, 8384513 * 8392705 is 2^46 + 1.
template <class Single>
void check_broken_ties(Check& check) {
  float power = 1.0f;
  for (int n = 0; n < 149; ++n, power *= 0.5f) {
    for (const float sign : {opaque(1.0f), opaque(-1.0f)}) {
      check_exact<Single>(check, 97.0f, 172961.0f, sign * power);
      check_exact<Single>(check, 8384513.0f * 0x1p-46f, 8392705.0f * power, sign);
      check_exact<Single>(check, 8384513.0f * 0x1p-98f, 8392705.0f * power, sign * 0.0f);
    }
  }
}

// Checks the fma of single floats against wide integers, where terms overlap, cancel, vanish, and lie halfway between two floats; and
// against the reference with NaN and infinity as operands.
template <class Single>
void check_fma(Check& check) {
  constexpr float operands[][3] = {{4097.0f, 16773121.0f * 0x1p-60f, 1.0f},
                                   {262143.0f, 262145.0f * 0x1p-60f, 1.0f + 0x1p-23f},
                                   {-262143.0f, 262145.0f * 0x1p-60f, -1.0f - 0x1p-23f},
                                   {0x1p-75f, 0x1p-75f, 0x1p-149f},
                                   {0x1p-75f, 0x1.8p-75f, 0.0f},
                                   {0x1p-140f, -0x1p-140f, 0.0f},
                                   {0x1p-81f, 0x1p-82f, 0.0f},
                                   {0x1p-81f, -0x1p-82f, 0.0f}};
  for (const auto& [a, b, c] : operands) check_exact<Single>(check, opaque(a), b, c);
  check_broken_ties<Single>(check);
  std::uint32_t state = 5;
  for (int i = 0; i < 500; ++i) {
    const float a = near_one(state), b = near_one(state), c = near_one(state);
    check_exact<Single>(check, a, b, c);
    check_exact<Single>(check, a, b, -exact_fma(a, b, 0.0f));
    check_exact<Single>(check, a * 0x1p-63f, b * 0x1p-64f, __builtin_bit_cast(float, next(state) & 0x81ffffffu));
    const float p = any_finite(state), q = any_finite(state), r = any_finite(state);
    check_exact<Single>(check, p, q, r);
    const float x = any_float(state), y = any_float(state), z = any_float(state);
    check.same_bits(Single::fma(x, y, z), Reference::fma(x, y, z));
    const float edges[] = {0.0f, -0.0f, infinity, -infinity, quiet_nan, -1.0f, 0x1p-149f, 3e38f};
    const float e = edges[next(state) >> 29], f = edges[next(state) >> 29], g = edges[next(state) >> 29];
    check.same_bits(Single::fma(e, f, g), Reference::fma(e, f, g));
  }
}

// The fma in add_multiple (a row plus a multiple of another), a member of ports without an fma instruction.
template <class Single>
struct ByMultiple {
  static float fma(float a, float b, float c) {
    Single::add_multiple(a, &b, 1, &c, 1);
    return c;
  }
};
template <class Single>
void check_each_fma(Check& check) {
  check_fma<Single>(check);
  if constexpr (requires(float* x) { Single::add_multiple(0.0f, x, 1, x, 1); }) check_fma<ByMultiple<Single>>(check);
}

// The vectors of ARMv7 and Helium flush subnormal operands and results to zero.
#if defined(__ARM_FEATURE_MVE) || (defined(__ARM_NEON) && !defined(__aarch64__))
constexpr bool vectors_flush = true;
#else
constexpr bool vectors_flush = false;
#endif

bool may_be_flushed(float x) { return vectors_flush && x != 0.0f && x >= -0x1p-126f && x <= 0x1p-126f; }

// Computes fma in one lane of a vector; the other lanes hold sums that are nowhere near a tie.
template <class Port, std::size_t Lane>
struct InLane {
  static float fma(float a, float b, float c) {
    const float result = Reference::fma(a, b, c);
    if (may_be_flushed(a) || may_be_flushed(b) || may_be_flushed(c) || may_be_flushed(result)) return result;
    Lanes<Port> x, y, z;
    x.fill(1.0f + 0x1p-23f), y.fill(1.0f + 0x1p-23f), z.fill(0.3f);
    x[Lane] = a, y[Lane] = b, z[Lane] = c;
    return stored<Port>(Port::fma(Port::load(x.data()), Port::load(y.data()), Port::load(z.data())))[Lane];
  }
};

// (1 + 2^-23)^2 is 1 + 2^-22 + 2^-46; rounding drops 2^-46. Each line has its own operands, since a compiler does not contract a product
// that it needs elsewhere.
template <class Port>
void check_products_are_rounded(Check& check) {
  const auto x = [] { return Port::splat(opaque(1.0f + 0x1p-23f)); };
  const auto c = [] { return Port::splat(opaque(-1.0f - 0x1p-22f)); };
  const Lanes<Port> zeros{};
  check.same_bits(stored<Port>(Port::mul(x(), x()) + c()), zeros);
  check.same_bits(stored<Port>(Port::add(Port::mul(x(), x()), c())), zeros);
  check.same_bits(stored<Port>(Port::add(x() * x(), c())), zeros);
  check.same_bits(stored<Port>(Port::add(c(), x() * x())), zeros);
}

template <class Port>
void check_exponent_bits(Check& check) {
  float power = 0x1p-126f;
  for (int n = -126; n <= 127; ++n, power *= 2) {
    const auto shifted = Port::splat(opaque(0x1.8p23f + 127.0f + static_cast<float>(n)));
    check.same_bits(stored<Port>(Port::exponent_bits(shifted))[0], power);
  }
  check.same_bits(stored<Port>(Port::exponent_bits(Port::splat(opaque(0x1.8p23f))))[0], 0.0f);
}

template <class Port>
void check_parts(Check& check) {
  std::uint32_t state = 2;
  for (std::size_t n = 0; n <= Port::lanes; ++n) {
    const auto from = any_lanes<Port>(state);
    Lanes<Port> part = from;
    for (std::size_t lane = n; lane < Port::lanes; ++lane) part[lane] = 0.0f;
    check.same_bits(stored<Port>(Port::load_n(from.data(), n, 0.0f)), part);
    for (std::size_t lane = n; lane < Port::lanes; ++lane) part[lane] = -infinity;
    check.same_bits(stored<Port>(Port::load_n(from.data(), n, opaque(-infinity))), part);
    Guarded<Vector<float, Port::lanes>> to;
    Port::store_n(to.tensor.data(), Port::load(from.data()), n);
    for (std::size_t lane = 0; lane < Port::lanes; ++lane) check.same_bits(to.tensor(lane), lane < n ? from[lane] : to.untouched);
    check.that(to.guards_hold());
  }
  if constexpr (requires { Port::half::lanes; }) check_parts<typename Port::half>(check);
}

// Checks butterflies: lanes exchanged at distances 1, 2, 4, ... below the number of lanes.
template <class Port, std::size_t By = 1>
void check_swapped_lanes(Check& check, const Lanes<Port>& from) {
  if constexpr (By < Port::lanes) {
    Lanes<Port> expected;
    for (std::size_t lane = 0; lane < Port::lanes; ++lane) expected[lane] = from[lane ^ By];
    check.same_bits(stored<Port>(Port::template butterfly<By>(Port::load(from.data()))), expected);
    check_swapped_lanes<Port, 2 * By>(check, from);
  }
}

template <class Port>
void check_lanes(Check& check) {
  std::uint32_t state = 3;
  const auto a = any_lanes<Port>(state), b = any_lanes<Port>(state);
  check.same_bits(Port::first(Port::load(a.data())), a[0]);
  check.same_bits(stored<Port>(Port::load_n(a.data(), 0, 3.0f))[Port::lanes - 1], 3.0f);
  check_swapped_lanes<Port>(check, a);
  if constexpr (requires(typename Port::vec v) { Port::interleave(v, v, v, v); }) {
    typename Port::vec low, high;
    Port::interleave(Port::load(a.data()), Port::load(b.data()), low, high);
    const auto lows = stored<Port>(low), highs = stored<Port>(high);
    for (std::size_t i = 0; i < 2 * Port::lanes; ++i)
      check.same_bits(i < Port::lanes ? lows[i] : highs[i - Port::lanes], (i % 2 == 0 ? a : b)[i / 2]);
  }
  if constexpr (requires { Port::half::lanes; }) check_lanes<typename Port::half>(check);
}

// Checks rows on a port of one lane: as many floats as a tile is wide, and one.
template <class Port, std::size_t Count = Port::tile_vectors>
void check_rows(Check& check) {
  const auto from = opaque(drawn<Vector<float, Count>>(4));
  float row[Count];
  Port::load_row(from.data(), row);
  Guarded<Vector<float, Count>> to;
  Port::store_row(row, to.tensor.data());
  check.same_bits(std::to_array(row), from);
  check.same_bits(to.tensor, from);
  check.that(to.guards_hold());
  if constexpr (Count > 1) check_rows<Port, 1>(check);
}

template <class Port>
void check_not_finite(Check& check) {
  const auto nan = Port::splat(opaque(quiet_nan)), one = Port::splat(1.0f), two = Port::splat(2.0f);
  check.same_bits(stored<Port>(Port::select_less(nan, one, one, two))[0], 2.0f);
  check.same_bits(stored<Port>(Port::select_less(one, nan, one, two))[0], 2.0f);
  check.same_bits(stored<Port>(Port::mul(nan, one))[0], quiet_nan);
  check.same_bits(stored<Port>(Port::add(one, nan))[0], quiet_nan);
  check.same_bits(stored<Port>(Port::fma(one, one, nan))[0], quiet_nan);
  check.same_bits(stored<Port>(Port::maximum(Port::splat(opaque(-infinity)), one))[0], 1.0f);
  check.same_bits(stored<Port>(Port::maximum(two, one))[0], 2.0f);
}

// Checks how a product of int8 is scaled, with scales and steps whose product may be subnormal, or the result.
template <class Port>
void check_scaled_sums(Check& check) {
  const auto scales = opaque(drawn<Vector<float, 16>>(7));
  const std::int32_t sums[] = {0, 1, -1, -2'800'826, 16'777'217, -0x7fffffff};
  for (float factor = 0x1p-60f; factor < 0x1p31f; factor *= 8)
    for (const float step : {0x1p-77f, 0x1p-64f, 0x1p-41f, 0x1p-13f, 0x1p50f})
      for (const std::int32_t sum : sums)
        for (const float by : scales.elements) {
          const float scale = by * factor, product = Reference::mul(scale, step);
          const auto bits = static_cast<std::uint32_t>(sum);
          float out;
          const float without = Reference::mul(static_cast<float>(sum), product);
          kernel::scale_sums<Port>(&bits, 0, &scale, step, nullptr, &out, 1);
          check.same_bits(out, without);
          for (const float bias : {by * 0x1p-120f, -without, without * 0.99609375f, without * by, without * by * -512.0f}) {
            kernel::scale_sums<Port>(&bits, 0, &scale, step, &bias, &out, 1);
            check.same_bits(out, Reference::fma(static_cast<float>(sum), product, bias));
          }
        }
}

// Checks sums of one row with rows of codes that overlap in memory: of blocks of terms, of parts of blocks, and of both.
template <class Port>
void check_sums(Check& check) {
  for (const std::size_t terms : {8u, 72u, 512u, 520u, 1024u})
    for (const std::size_t cols : {1u, 15u, 16u, 17u, 35u}) {
      const auto integer = [](std::size_t k) { return static_cast<std::int32_t>(k * 7919 % 16383) - 8191; };
      std::int32_t packed[1024 + 2] = {};
      alignas(4) std::uint8_t codes[1024 + 34 * 8];
      for (std::size_t k = 0; k < terms; ++k) packed[k] = integer(k);
      for (std::size_t i = 0; i < sizeof(codes); ++i) codes[i] = static_cast<std::uint8_t>(i * i / 3);
      std::uint32_t sums[35] = {};
      check.equal(kernel::pack_row<Port>(packed, terms, 0), 0u);
      kernel::integer_dots<Port, 1>({packed, terms + 2}, {codes, 8, terms}, cols, sums);
      for (std::size_t j = 0; j < cols; ++j) {
        std::uint32_t sum = 0;
        for (std::size_t k = 0; k < terms; ++k) sum += static_cast<std::uint32_t>(integer(k)) * codes[8 * j + k];
        check.equal(sums[j], sum);
      }
    }
}

using one_lane = native_port::one_lane;
using soft = port::soft;

constexpr Test tests[] = {
    at_run_time("arithmetic", check_arithmetic<native_port>),
    at_run_time("arithmetic of single floats, with this build's port and without an FPU",
                each_of<check_arithmetic<one_lane>, check_arithmetic<soft>>),
    at_run_time("fma of this build's port", check_each_fma<one_lane>),
    at_run_time("fma in the first lane and the last",
                each_of<check_each_fma<InLane<native_port, 0>>, check_each_fma<InLane<native_port, native_port::lanes - 1>>>),
    at_run_time("fma in double", check_each_fma<Reference>),
    at_run_time("fma in integers", check_each_fma<soft>),
    at_run_time("products in integers, of any exponents, and halfway between two floats", check_products),
    at_run_time("a product is rounded before anyone adds to it",
                each_of<check_products_are_rounded<native_port>, check_products_are_rounded<one_lane>, check_products_are_rounded<soft>>),
    at_run_time("powers of two", each_of<check_exponent_bits<native_port>, check_exponent_bits<soft>>),
    at_run_time("part of a vector: nothing after it is read or written", each_of<check_parts<native_port>, check_parts<soft>>),
    at_run_time("several single floats at once", each_of<check_rows<one_lane>, check_rows<soft>>),
    at_run_time("lanes: the first, swapped and zipped", check_lanes<native_port>),
    at_run_time("infinity and NaN: a NaN is not less", each_of<check_not_finite<native_port>, check_not_finite<soft>>),
    at_run_time("sums of int8", each_of<check_sums<native_port>, check_sums<one_lane>, check_sums<soft>>),
    at_run_time("sums of int8, scaled", check_scaled_sums<one_lane>),
    everywhere("the product of mantissas from halves, as a Cortex-M0 computes it",
               [](Check& check) {
                 for (std::uint32_t x = 0xffffffu, y = x; x >= 0x800000u; x -= 81'921u, y = x ^ 0x2aaaaau)
                   check.equal(port::detail::multiply_in_halves(x, y), std::uint64_t{x} * y << 8);
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
