// SPDX-License-Identifier: MIT
//
// Ports that break the contract in one operation each; the checks of the kernels must find every one.
#include "tinyattn/port/wide.hpp"

#include "products.hpp"
#include "rows.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

enum Fault {
  no_fault,
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
  takes_the_next_factor,
  starts_at_zero,
  forgets_the_odd_step,
  zips_the_other_way,
  scatters_too_near,
};

Fault fault = no_fault;

template <class Sound>
struct Broken : Sound {
  using Sound::add, Sound::fma, Sound::mul;
  using vec = typename Sound::vec;
  using broadcast_operand = typename Sound::broadcast_operand;

  // Returns v; for the fault `forgotten`, its last lane is that of `before`.
  static vec with_last_lane(Fault forgotten, vec v, vec before) {
    if (fault == forgotten) v.lane[Sound::lanes - 1] = before.lane[Sound::lanes - 1];
    return v;
  }

  static void store_n(float* to, vec v, Size n) {
    Sound::store_n(to, v, fault == stores_one_too_few ? n - 1 : n);
    if (fault == stores_one_too_many) to[n] = 0.0f;
  }
  static vec load(const float* from) {
    vec v = Sound::load(from);
    if (fault == swaps_lanes) std::swap(v.lane[0], v.lane[1]);
    return v;
  }
  static vec load_n(const float* from, Size n, float rest) { return Sound::load_n(from, n, fault == fills_with_zeros ? 0.0f : rest); }
  template <Size By>
  static vec butterfly(vec v) {
    return fault == takes_the_same_lane ? v : Sound::template butterfly<By>(v);
  }
  static vec fma(vec a, vec b, vec c) { return with_last_lane(forgets_a_lane_of_an_fma, Sound::fma(a, b, c), c); }
  static vec fma(broadcast_operand a, vec b, vec c) { return fault == rounds_twice ? add(mul(b, a), c) : Sound::fma(a, b, c); }
  static vec fma(vec a, vec b, broadcast_operand c) { return fault == rounds_twice_to_a_factor ? add(mul(a, b), c) : Sound::fma(a, b, c); }
  static vec mul(vec a, broadcast_operand b) { return with_last_lane(forgets_a_lane_of_a_product, Sound::mul(a, b), a); }
  static vec add(vec a, broadcast_operand b) { return with_last_lane(forgets_a_lane_of_a_sum, Sound::add(a, b), a); }
  static vec maximum(vec a, vec b) { return with_last_lane(forgets_a_lane_in_max, Sound::maximum(a, b), a); }
  static vec select_less(vec a, vec b, vec c, vec d) {
    return fault == takes_nan_for_less ? Sound::select_less(b, a, d, c) : Sound::select_less(a, b, c, d);
  }
  static vec exponent_bits(vec n) {
    const vec power = Sound::exponent_bits(n);
    return fault == leaves_a_bit_of_the_smallest_power ? Sound::maximum(power, Sound::splat(0x1p-126f)) : power;
  }

  // Optional members, for sound ports that have them.
  template <Size Rows, Size Vectors>
  static void tile(const float* initial, const float* a, Size a_stride, const float* b, Size b_stride, float* out, Size out_stride,
                   Size inner) requires requires {
    Sound::template tile<Rows, Vectors>(initial, a, 0, b, 0, out, 0, 0);
  }
  {
    if (fault == takes_the_next_factor) ++a;
    if (fault == starts_at_zero) initial = kernel::zeros<8>;
    if (fault == forgets_the_odd_step) inner -= inner % 2;
    Sound::template tile<Rows, Vectors>(initial, a, a_stride, b, b_stride, out, out_stride, inner);
  }
  static void interleave(vec a, vec b, vec& low, vec& high) requires requires { Sound::interleave(a, b, low, high); }
  {
    if (fault == zips_the_other_way) std::swap(a, b);
    Sound::interleave(a, b, low, high);
  }
  static void scatter(float* to, Size step, vec v) requires requires { Sound::scatter(to, step, v); }
  { Sound::scatter(to, fault == scatters_too_near ? step - 1 : step, v); }
};

template <Fault its_fault>
void is_found(Check& check) {
  fault = its_fault;
  Check found;
  check_products_of_any_shape<Broken<SharingWithTile>>(found);
  check_rows<Broken<SharingWithTile>>(found);
  check_transposes<Broken<SharingWithTile>>(found);
  check_transposes<Broken<Narrowing>>(found);
  check.that(found.checks() != 0 && found.passed() == (fault == no_fault));
}

constexpr Test tests[] = {
    at_run_time("nothing in a port that is sound", is_found<no_fault>),
    at_run_time("a partial store one too long", is_found<stores_one_too_many>),
    at_run_time("a partial store one too short", is_found<stores_one_too_few>),
    at_run_time("two lanes of a load swapped", is_found<swaps_lanes>),
    at_run_time("zeros after a partial load", is_found<fills_with_zeros>),
    at_run_time("lanes that do not change places", is_found<takes_the_same_lane>),
    at_run_time("an fma that forgets a lane", is_found<forgets_a_lane_of_an_fma>),
    at_run_time("an fma with a factor that rounds twice", is_found<rounds_twice>),
    at_run_time("an fma that adds a factor and rounds twice", is_found<rounds_twice_to_a_factor>),
    at_run_time("a product with a factor that forgets a lane", is_found<forgets_a_lane_of_a_product>),
    at_run_time("a sum with a factor that forgets a lane", is_found<forgets_a_lane_of_a_sum>),
    at_run_time("a maximum that forgets a lane", is_found<forgets_a_lane_in_max>),
    at_run_time("a NaN that counts as less", is_found<takes_nan_for_less>),
    at_run_time("a power of two that does not reach 0", is_found<leaves_a_bit_of_the_smallest_power>),
    at_run_time("a tile with the next factor", is_found<takes_the_next_factor>),
    at_run_time("a tile that starts at zero", is_found<starts_at_zero>),
    at_run_time("a tile without the odd step", is_found<forgets_the_odd_step>),
    at_run_time("the second vector zipped first", is_found<zips_the_other_way>),
    at_run_time("lanes scattered too near", is_found<scatters_too_near>),
};

}  // namespace

int main() { return run(tests); }
