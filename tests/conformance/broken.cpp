// SPDX-License-Identifier: MIT
//
// Ports that break the contract in one operation each; the checks of the kernels must find every one.
#include "wide.hpp"

#include <cstddef>

#include "products.hpp"
#include "rows.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

using Sound = Sharing;
using vec = Sound::vec;
using broadcast_operand = Sound::broadcast_operand;

enum Fault {
  stores_one_too_many,
  stores_one_too_few,
  swaps_lanes,
  fills_with_zeros,
  takes_the_same_lane,
  forgets_a_lane_of_an_fma,
  rounds_twice,
  rounds_twice_to_a_factor,
  forgets_a_lane_of_a_product,
  forgets_a_lane_of_a_sum,
  forgets_a_lane_in_max,
  takes_nan_for_less,
  leaves_a_bit_of_the_smallest_power,
};

template <Fault fault>
struct Broken : Sound {
  using Sound::add, Sound::fma, Sound::mul;

  // Returns v; for the fault `forgotten`, its last lane is that of `before`.
  static constexpr vec with_last_lane(Fault forgotten, vec v, vec before) {
    if (fault == forgotten) v.lane[3] = before.lane[3];
    return v;
  }

  static constexpr void store_n(float* to, vec v, Size n) {
    Sound::store_n(to, v, fault == stores_one_too_few ? n - 1 : n);
    if (fault == stores_one_too_many) to[n] = 0.0f;
  }
  static constexpr vec load(const float* from) {
    const vec v = Sound::load(from);
    return fault == swaps_lanes ? vec{v.lane[1], v.lane[0], v.lane[2], v.lane[3]} : v;
  }
  static constexpr vec load_n(const float* from, Size n, float rest) {
    return Sound::load_n(from, n, fault == fills_with_zeros ? 0.0f : rest);
  }
  template <Size By>
  static constexpr vec butterfly(vec v) {
    return fault == takes_the_same_lane ? v : Sound::butterfly<By>(v);
  }
  static constexpr vec fma(vec a, vec b, vec c) { return with_last_lane(forgets_a_lane_of_an_fma, Sound::fma(a, b, c), c); }
  static constexpr vec fma(broadcast_operand a, vec b, vec c) { return fault == rounds_twice ? add(mul(b, a), c) : Sound::fma(a, b, c); }
  static constexpr vec fma(vec a, vec b, broadcast_operand c) {
    return fault == rounds_twice_to_a_factor ? add(mul(a, b), c) : Sound::fma(a, b, c);
  }
  static constexpr vec mul(vec a, broadcast_operand b) { return with_last_lane(forgets_a_lane_of_a_product, Sound::mul(a, b), a); }
  static constexpr vec add(vec a, broadcast_operand b) { return with_last_lane(forgets_a_lane_of_a_sum, Sound::add(a, b), a); }
  static constexpr vec maximum(vec a, vec b) { return with_last_lane(forgets_a_lane_in_max, Sound::maximum(a, b), a); }
  static constexpr vec select_less(vec a, vec b, vec c, vec d) {
    return fault == takes_nan_for_less ? Sound::select_less(b, a, d, c) : Sound::select_less(a, b, c, d);
  }
  static constexpr vec exponent_bits(vec n) {
    const vec power = Sound::exponent_bits(n);
    return fault == leaves_a_bit_of_the_smallest_power ? Sound::maximum(power, splat(0x1p-126f)) : power;
  }
};

// A port with its own tiles, which `change` gives one wrong argument.
template <auto change>
struct ChangedTile : Sound {
  using In = const float*;
  template <Size Rows, Size Vectors>
  static constexpr void tile(In start, In a, Size a_stride, In b, Size b_stride, float* out,  //
                             Size out_stride, Size inner) {
    change(start, a, inner);
    WithTile<Sound>::tile<Rows, Vectors>(start, a, a_stride, b, b_stride, out, out_stride, inner);
  }
};

using TakesTheNextFactor = ChangedTile<[](auto&, auto& a, auto&) { ++a; }>;
using StartsAtZero = ChangedTile<[](auto& start, auto&, auto&) { start = kernel::zeros<8>; }>;
using ForgetsTheOddStep = ChangedTile<[](auto&, auto&, auto& inner) { inner -= inner % 2; }>;

struct ZipsTheOtherWay : Narrowing {
  using vec = Narrowing::vec;
  static constexpr void interleave(vec a, vec b, vec& c, vec& d) { Narrowing::interleave(b, a, c, d); }
};

struct ScattersTooNear : SharingWithTile {
  using Sound = SharingWithTile;
  static constexpr void scatter(float* p, Size n, vec v) { Sound::scatter(p, n - 1, v); }
};

template <auto check_kernels>
void finds(Check& check) {
  Check found;
  check_kernels(found);
  check.that(found.checks() != 0 && !found.passed());
}

template <class Port>
void check_kernels(Check& check) {
  check_products_of_any_shape<Port>(check);
  check_transposes<Port>(check);
  check_rows<Port>(check);
}

constexpr Test tests[] = {
    at_run_time("a partial store one too long", finds<check_products_of_any_shape<Broken<stores_one_too_many>>>),
    at_run_time("a partial store one too short", finds<check_products_of_any_shape<Broken<stores_one_too_few>>>),
    at_run_time("two lanes of a load swapped", finds<check_products_of_any_shape<Broken<swaps_lanes>>>),
    at_run_time("zeros behind a partial load", finds<check_rows<Broken<fills_with_zeros>>>),
    at_run_time("lanes that do not change places", finds<check_rows<Broken<takes_the_same_lane>>>),
    at_run_time("an fma of three lanes", finds<check_rows<Broken<forgets_a_lane_of_an_fma>>>),
    at_run_time("an fma with a factor that rounds twice", finds<check_products_of_any_shape<Broken<rounds_twice>>>),
    at_run_time("an fma that adds a factor and rounds twice", finds<check_rows<Broken<rounds_twice_to_a_factor>>>),
    at_run_time("a product with a factor of three lanes", finds<check_rows<Broken<forgets_a_lane_of_a_product>>>),
    at_run_time("a sum with a factor of three lanes", finds<check_rows<Broken<forgets_a_lane_of_a_sum>>>),
    at_run_time("a maximum of three lanes", finds<check_rows<Broken<forgets_a_lane_in_max>>>),
    at_run_time("a NaN that counts as less", finds<check_rows<Broken<takes_nan_for_less>>>),
    at_run_time("a power of two that does not reach 0", finds<check_rows<Broken<leaves_a_bit_of_the_smallest_power>>>),
    at_run_time("a tile with the next factor", finds<check_products_of_any_shape<TakesTheNextFactor>>),
    at_run_time("a tile that starts at zero", finds<check_products_of_any_shape<StartsAtZero>>),
    at_run_time("a tile without the odd step", finds<check_products_of_any_shape<ForgetsTheOddStep>>),
    at_run_time("the second vector zipped first", finds<check_transposes<ZipsTheOtherWay>>),
    at_run_time("lanes scattered too near", finds<check_transposes<ScattersTooNear>>),
    at_run_time("nothing in a port that is sound", check_kernels<Sound>),
    at_run_time("nothing in a sound tile", check_products_of_any_shape<ChangedTile<[](auto&...) {}>>),
};

}  // namespace

int main() { return run(tests); }
