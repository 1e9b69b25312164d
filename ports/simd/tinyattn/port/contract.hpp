// SPDX-License-Identifier: MIT
//
// What a kernel may ask of a port: a vector of `lanes` floats and a dozen operations on it. A port is a
// struct of static functions; ports/README.md says how to write one.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <concepts>
#include <cstddef>

namespace tinyattn::port {

template <class Port>
concept contract = requires(typename Port::vec v, typename Port::broadcasted b, const float* from, float* to, std::size_t n, float x) {
  typename Port::one_lane;         // the port that computes single floats beside this one
  requires 16 % Port::lanes == 0;  // a row sum has sixteen lanes
  requires Port::registers >= 8;   // that hold a vec
  requires Port::tile_vectors >
  0;  // the widest register tile
  requires Port::block_rows >
  0;                                                              // query rows that attention takes at a time
  { Port::shares_code } -> std::convertible_to<bool>;             // flash is dear: one copy of a kernel for all larger shapes
  { Port::load(from) } -> std::same_as<typename Port::vec>;       // `lanes` floats, aligned as float
  { Port::load_n(from, n) } -> std::same_as<typename Port::vec>;  // the first n <= lanes; the others are not read and are +0
  { Port::store(to, v) } -> std::same_as<void>;
  { Port::store_n(to, v, n) } -> std::same_as<void>;  // the first n <= lanes; memory behind them is not written
  { Port::broadcast(x) } -> std::same_as<typename Port::broadcasted>;
  { Port::fill(x) } -> std::same_as<typename Port::vec>;       // x in every lane
  { Port::fma(b, v, v) } -> std::same_as<typename Port::vec>;  // b * v + v, rounded once
  { Port::fma(v, v, v) } -> std::same_as<typename Port::vec>;
  { Port::mul(v, v) } -> std::same_as<typename Port::vec>;                // rounded: no compiler may fuse it with an addition
  { Port::add(v, v) } -> std::same_as<typename Port::vec>;                // nor this with the product that an operand once was
  { Port::max(v, v) } -> std::same_as<typename Port::vec>;                // unspecified for NaN and for the sign of zero
  { Port::select_less(v, v, v, v) } -> std::same_as<typename Port::vec>;  // a < b ? c : d, lane by lane; a NaN is not less
  { Port::power_of_two(v) } -> std::same_as<typename Port::vec>;          // 2^n from 1.5 * 2^23 + n, -126 <= n <= 127
};

}  // namespace tinyattn::port
