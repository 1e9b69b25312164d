// SPDX-License-Identifier: MIT
//
// A port that breaks the contract in one operation, which the variable `mutant` chooses at run time, and -DTINYATTN_MUTANT=rounds_twice
// before that. -DTINYATTN_PORT=broken makes it the build's port.
#pragma once

#ifndef TINYATTN_MUTANT
#define TINYATTN_MUTANT no_mutant
#endif

#include "tinyattn/port/wide.hpp"

#include <utility>

namespace tinyattn::test {

// What is broken. `mutant` points to one of these.
#define TINYATTN_MUTANTS(use)                                                                                                       \
  use(no_mutant) use(stores_one_too_many) use(stores_one_too_few) use(swaps_lanes) use(fills_with_zeros) use(takes_the_same_lane)   \
      use(forgets_a_lane_of_an_fma) use(rounds_twice) use(rounds_twice_to_a_broadcast) use(forgets_a_lane_of_a_product)             \
          use(forgets_a_lane_of_a_sum) use(forgets_a_lane_in_max) use(takes_nan_for_less) use(leaves_a_bit_of_the_smallest_power)   \
              use(takes_the_next_broadcast) use(starts_at_zero) use(forgets_the_odd_step) use(scatters_too_near) use(packs_too_few) \
                  use(takes_codes_without_gaps) use(forgets_the_last_terms)
#define NAME(name) inline constexpr char name[] = #name;
TINYATTN_MUTANTS(NAME)
#undef NAME

inline const char* mutant = TINYATTN_MUTANT;

inline constexpr float no_bias[64] = {};

template <class Sound>
struct Broken : Sound {
  using Sound::add, Sound::fma, Sound::mul;
  using vec = typename Sound::vec;
  using broadcast_operand = typename Sound::broadcast_operand;

  // Returns v, but for the mutant `forgotten` with the last lane of `before`.
  static vec with_last_lane(const char* forgotten, vec v, vec before) {
    if (mutant == forgotten) v.lane[Sound::lanes - 1] = before.lane[Sound::lanes - 1];
    return v;
  }

  static void store_n(float* to, vec v, Size n) {
    Sound::store_n(to, v, mutant == stores_one_too_few ? n - 1 : n);
    if (mutant == stores_one_too_many) to[n] = 0.0f;
  }
  static vec load(const float* from) {
    vec v = Sound::load(from);
    if (mutant == swaps_lanes) std::swap(v.lane[0], v.lane[1]);
    return v;
  }
  static vec load_n(const float* from, Size n, float rest) { return Sound::load_n(from, n, mutant == fills_with_zeros ? 0.0f : rest); }
  template <Size By>
  static vec butterfly(vec v) {
    return mutant == takes_the_same_lane ? v : Sound::template butterfly<By>(v);
  }
  static vec fma(vec a, vec b, vec c) { return with_last_lane(forgets_a_lane_of_an_fma, Sound::fma(a, b, c), c); }
  static vec fma(broadcast_operand a, vec b, vec c) { return mutant == rounds_twice ? add(mul(b, a), c) : Sound::fma(a, b, c); }
  static vec fma(vec a, vec b, broadcast_operand c) {
    return mutant == rounds_twice_to_a_broadcast ? add(mul(a, b), c) : Sound::fma(a, b, c);
  }
  static vec mul(vec a, broadcast_operand b) { return with_last_lane(forgets_a_lane_of_a_product, Sound::mul(a, b), a); }
  static vec add(vec a, broadcast_operand b) { return with_last_lane(forgets_a_lane_of_a_sum, Sound::add(a, b), a); }
  static vec maximum(vec a, vec b) { return with_last_lane(forgets_a_lane_in_max, Sound::maximum(a, b), a); }
  static vec select_less(vec a, vec b, vec c, vec d) {
    return mutant == takes_nan_for_less ? Sound::select_less(b, a, d, c) : Sound::select_less(a, b, c, d);
  }
  static vec exponent_bits(vec n) {
    const vec power = Sound::exponent_bits(n);
    return mutant == leaves_a_bit_of_the_smallest_power ? Sound::maximum(power, Sound::splat(0x1p-126f)) : power;
  }

  // Optional members, only for sound ports that have them.
  template <Size Rows, Size Vectors>
  static void tile(const float* initial, const float* a, Size a_stride, const float* b, Size b_stride, float* out, Size out_stride,
                   Size inner) requires requires {
    Sound::template tile<Rows, Vectors>(initial, a, 0, b, 0, out, 0, 0);
  }
  {
    if (mutant == takes_the_next_broadcast) ++a;
    if (mutant == starts_at_zero) initial = no_bias;
    if (mutant == forgets_the_odd_step) inner -= inner % 2;
    Sound::template tile<Rows, Vectors>(initial, a, a_stride, b, b_stride, out, out_stride, inner);
  }
  static void scatter(float* to, Size step, vec v) requires requires { Sound::scatter(to, step, v); }
  { Sound::scatter(to, mutant == scatters_too_near ? step - 1 : step, v); }
  static void pack_row(std::int32_t* q, Size terms) requires requires { Sound::integer_rows; }
  { Sound::pack_row(q, mutant == packs_too_few ? terms - 8 : terms); }
  template <Size Rows>
  static void integer_dots(const std::int32_t* q, Size q_stride, const std::uint8_t* codes, Size stride, Size terms, Size cols,
                           std::uint32_t* sums) {
    if (mutant == takes_codes_without_gaps) stride = terms;
    if (mutant == forgets_the_last_terms) terms -= 8;
    Sound::template integer_dots<Rows>(q, q_stride, codes, stride, terms, cols, sums);
  }
};

}  // namespace tinyattn::test

namespace tinyattn::port {
using broken = test::Broken<test::SharingWithTile>;
}  // namespace tinyattn::port
