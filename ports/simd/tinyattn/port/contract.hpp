// SPDX-License-Identifier: MIT
//
// What a kernel may ask of a port: a vector of `lanes` floats and a dozen operations on it. A port is a
// struct of static functions; ports/README.md says how to write one.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <concepts>
#include <cstddef>

namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE {

template <class Port>
concept shape = requires {
  typename Port::vec;                                  // `lanes` floats
  typename Port::broadcasted;                          // one float as a factor of all of them
  typename Port::one_lane;                             // the port that computes single floats beside this one
  requires 16 % Port::lanes == 0;                      // a row sum has sixteen lanes
  requires Port::registers != 0;                       // that hold a vec
  requires Port::tile_vectors != 0;                    // the widest register tile
  requires Port::block_rows != 0;                      // rows that are projected at a time
  requires Port::query_rows != 0;                      // queries that one head attends with at a time; no more than block_rows
  { Port::shares_code } -> std::convertible_to<bool>;  // flash is dear: one copy of a kernel for all larger shapes
};

template <class Port>
concept contract = shape<Port> && requires(typename Port::vec v, typename Port::vec (&row)[Port::tile_vectors],
                                           typename Port::broadcasted b, const float* from, float* to, std::size_t n, float x) {
  // `lanes` floats, aligned as float; a row of any number of vectors; the first n <= lanes: the rest is not read, and x
  { Port::load(from) } -> std::same_as<typename Port::vec>;
  { Port::load_row(from, row) } -> std::same_as<void>;
  { Port::load_n(from, n, x) } -> std::same_as<typename Port::vec>;
  // memory behind the first n is not written
  { Port::store(to, v) } -> std::same_as<void>;
  { Port::store_n(to, v, n) } -> std::same_as<void>;
  // x in every lane
  { Port::broadcast(x) } -> std::same_as<typename Port::broadcasted>;
  { Port::fill(x) } -> std::same_as<typename Port::vec>;
  // lane 0; and lane q ^ By in every lane q, for By = 1, 2, 4, ... lanes / 2
  { Port::first(v) } -> std::same_as<float>;
  requires Port::lanes == 1 || requires {
    { Port::template swapped<1>(v) } -> std::same_as<typename Port::vec>;
  };
  // b * v + v, rounded once
  { Port::fma(b, v, v) } -> std::same_as<typename Port::vec>;
  { Port::fma(v, v, v) } -> std::same_as<typename Port::vec>;
  // rounded: no compiler may fuse a product of `mul` with an addition, nor `add` with what was a product
  { Port::mul(v, v) } -> std::same_as<typename Port::vec>;
  { Port::add(v, v) } -> std::same_as<typename Port::vec>;
  // unspecified for NaN and for the sign of zero
  { Port::max(v, v) } -> std::same_as<typename Port::vec>;
  // a < b ? c : d, lane by lane; a NaN is not less
  { Port::select_less(v, v, v, v) } -> std::same_as<typename Port::vec>;
  // 2^n from 1.5 * 2^23 + 127 + n, of which the low bits are the exponent: -126 <= n <= 127; 0 for n = -127
  { Port::power_of_two(v) } -> std::same_as<typename Port::vec>;
};

// What a port may have besides; kernels use it where it is there.
//
//   tile_steps = 1 or 2                so many steps of a product at a time; fewer or more of a number that is known (tile.hpp)
//   load_next(from)                    *from++, which stays where it stands
//   load_tile_row<r>(from, row)        row r of a tile, into registers that one instruction loads
//   store_tile_row<r>(row, to)         or stores
//   store_row(row, to)                 the counterpart of load_row, which a port of one lane must have
//   load_next_row<stride>(from, row)   moves `from` on to the next row too; refuses a stride that no instruction has room for
//   zip(a, b, low, high)               low = a[0] b[0] a[1] b[1] ..., and high, which goes on from there
//   scatter(to, step, v)               to[q * step] = v[q] for every lane q
//   half                               a port of half as many lanes, for short rows
//   steps_pointers = true              a factor is loaded without an offset, from a pointer that moves on
//   steps_rows = true                  a load moves on to the next row of b, if the compiler knows how far it is

template <class Port>
concept steps_pointers = requires {
  requires Port::steps_pointers;
};
template <class Port>
concept steps_rows = requires {
  requires Port::steps_rows;
};

// A port whose instructions take a number from a core register may offer this too: x where every lane has the same.
template <class Port>
concept takes_numbers = requires(typename Port::vec v, float x) {
  { Port::fma(v, v, x) } -> std::same_as<typename Port::vec>;
  { Port::mul(v, x) } -> std::same_as<typename Port::vec>;
  { Port::add(v, x) } -> std::same_as<typename Port::vec>;
};

// A port that loads two successive factors in one instruction: *from++, twice.
template <class Port>
concept factors_in_pairs = steps_pointers<Port> && requires(const float* from, float (&two)[2]) {
  Port::load_next_two(from, two);
};

// A port whose fma can take its factor from a lane of a register may offer this too: `factor_steps` successive factors in one load.
template <class Port>
concept factors_by_lane = contract<Port> && requires(typename Port::factors several, typename Port::vec v, const float* from) {
  requires(Port::factor_steps > 1);
  { Port::load_factors(from) } -> std::same_as<typename Port::factors>;
  // lane<Step>: factor number Step, for fma
  { Port::fma(Port::template lane<Port::factor_steps - 1>(several), v, v) } -> std::same_as<typename Port::vec>;
};

}  // namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE
