// SPDX-License-Identifier: MIT
//
// A port of any width in plain C++, for tests: what a kernel does with several lanes, with parts of a vector and with tiles of another
// size shows on every machine. Its operations are calls, since a kernel that inlines them takes a compiler long.
#pragma once

#include <cstddef>

#include "tinyattn/port/scalar.hpp"

namespace tinyattn::test {

template <std::size_t Lanes, std::size_t TileVectors, std::size_t BlockRows, bool SharesCode>
struct Wide {
  struct vec {
    float lane[Lanes];
  };
  using broadcasted = float;
  using one_lane = port::scalar;
  static constexpr std::size_t lanes = Lanes;
  static constexpr std::size_t registers = 8;
  static constexpr std::size_t tile_vectors = TileVectors;
  static constexpr std::size_t block_rows = BlockRows;
  static constexpr std::size_t query_rows = BlockRows;
  static constexpr bool shares_code = SharesCode;

  static constexpr vec each(auto compute) noexcept {
    vec v{};
    for (std::size_t i = 0; i < Lanes; ++i) v.lane[i] = compute(i);
    return v;
  }

  [[gnu::noinline]] static constexpr vec load_n(const float* from, std::size_t n, float rest) noexcept {
    return each([=](std::size_t i) { return i < n ? from[i] : rest; });
  }
  static constexpr vec load(const float* from) noexcept { return load_n(from, Lanes, 0.0f); }
  template <std::size_t Vectors>
  static constexpr void load_row(const float* from, vec (&row)[Vectors]) noexcept {
    for (std::size_t v = 0; v < Vectors; ++v) row[v] = load(from + v * Lanes);
  }
  [[gnu::noinline]] static constexpr void store_n(float* to, vec v, std::size_t n) noexcept {
    for (std::size_t i = 0; i < n; ++i) to[i] = v.lane[i];
  }
  static constexpr void store(float* to, vec v) noexcept { store_n(to, v, Lanes); }
  static constexpr float broadcast(float x) noexcept { return x; }
  static constexpr vec fill(float x) noexcept {
    return each([=](std::size_t) { return x; });
  }
  static constexpr float first(vec v) noexcept { return v.lane[0]; }
  template <std::size_t By>
  [[gnu::noinline]] static constexpr vec swapped(vec v) noexcept {
    return each([&](std::size_t i) { return v.lane[i ^ By]; });
  }
  [[gnu::noinline]] static constexpr vec fma(vec a, vec b, vec c) noexcept {
    return each([&](std::size_t i) { return one_lane::fma(a.lane[i], b.lane[i], c.lane[i]); });
  }
  static constexpr vec fma(float a, vec b, vec c) noexcept { return fma(fill(a), b, c); }
  [[gnu::noinline]] static constexpr vec mul(vec a, vec b) noexcept {
    return each([&](std::size_t i) { return one_lane::mul(a.lane[i], b.lane[i]); });
  }
  [[gnu::noinline]] static constexpr vec add(vec a, vec b) noexcept {
    return each([&](std::size_t i) { return one_lane::add(a.lane[i], b.lane[i]); });
  }
  [[gnu::noinline]] static constexpr vec max(vec a, vec b) noexcept {
    return each([&](std::size_t i) { return one_lane::max(a.lane[i], b.lane[i]); });
  }
  [[gnu::noinline]] static constexpr vec select_less(vec a, vec b, vec less, vec otherwise) noexcept {
    return each([&](std::size_t i) { return one_lane::select_less(a.lane[i], b.lane[i], less.lane[i], otherwise.lane[i]); });
  }
  [[gnu::noinline]] static constexpr vec power_of_two(vec shifted) noexcept {
    return each([&](std::size_t i) { return one_lane::power_of_two(shifted.lane[i]); });
  }
};

static_assert(port::contract<Wide<4, 2, 3, false>>);

// The same with factors from the lanes of a vector.
template <std::size_t Steps>
struct WideByLane : Wide<4, 2, 3, false> {
  struct factors {
    float lane[Steps];
  };
  static constexpr std::size_t factor_steps = Steps;

  static constexpr factors load_factors(const float* from) noexcept {
    factors several{};
    for (std::size_t step = 0; step < Steps; ++step) several.lane[step] = from[step];
    return several;
  }
  template <std::size_t Step>
  static constexpr float lane(factors several) noexcept {
    return several.lane[Step];
  }
};

static_assert(port::factors_by_lane<WideByLane<3>>);

// The same with zip, and half its lanes for short rows, down to four.
template <std::size_t Lanes>
struct WideOrNarrow : Wide<Lanes, 2, 2, false> {
  using half = WideOrNarrow<Lanes / 2>;
  using vec = typename Wide<Lanes, 2, 2, false>::vec;

  [[gnu::noinline]] static constexpr void zip(vec a, vec b, vec& low, vec& high) noexcept {
    for (std::size_t i = 0; i < Lanes; ++i) {
      low.lane[i] = (i % 2 == 0 ? a : b).lane[i / 2];
      high.lane[i] = (i % 2 == 0 ? a : b).lane[Lanes / 2 + i / 2];
    }
  }
};

template <>
struct WideOrNarrow<2>;

static_assert(port::contract<WideOrNarrow<16>> && port::contract<WideOrNarrow<16>::half::half>);

// One copy of a kernel for all shapes, with whatever saves an instruction: numbers where every lane has the same, two factors in a load,
// loads that move on to the next row, vectors that are scattered.
struct WideInFewSteps : Wide<4, 2, 3, true> {
  static constexpr std::size_t tile_steps = 2;
  static constexpr bool steps_pointers = true;
  static constexpr bool steps_rows = true;

  using Wide::add;
  using Wide::fma;
  using Wide::mul;
  static constexpr vec fma(vec a, vec b, float c) noexcept { return fma(a, b, fill(c)); }
  static constexpr vec mul(vec a, float b) noexcept { return mul(a, fill(b)); }
  static constexpr vec add(vec a, float b) noexcept { return add(a, fill(b)); }

  static constexpr void load_next_two(const float*& from, float (&two)[2]) noexcept {
    two[0] = *from++;
    two[1] = *from++;
  }
  template <std::size_t Stride, std::size_t Vectors>
  requires(Stride <= 20) static constexpr void load_next_row(const float*& from, vec (&row)[Vectors]) noexcept {
    load_row(from, row);
    from += Stride;
  }
  static constexpr void store_row(const vec (&row)[tile_vectors], float* to) noexcept {
    for (std::size_t v = 0; v < tile_vectors; ++v) store(to + v * lanes, row[v]);
  }
  static constexpr void scatter(float* to, std::size_t step, vec v) noexcept {
    for (std::size_t i = 0; i < lanes; ++i) to[i * step] = v.lane[i];
  }
};

static_assert(port::contract<WideInFewSteps> && port::takes_numbers<WideInFewSteps> && port::steps_pointers<WideInFewSteps> &&
              port::steps_rows<WideInFewSteps> && port::factors_in_pairs<WideInFewSteps>);

// Those that every kernel is tried on.
using Sharing = Wide<4, 2, 3, true>;
using InFewSteps = WideInFewSteps;
using ByLane = WideByLane<3>;
using Eight = Wide<8, 1, 5, false>;
using Narrowing = WideOrNarrow<16>;

}  // namespace tinyattn::test
