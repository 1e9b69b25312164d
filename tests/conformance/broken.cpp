// SPDX-License-Identifier: MIT
//
// Ports that break the contract in one operation each: the checks of kernels find every one.
#include "wide.hpp"

#include <cstddef>

#include "products.hpp"
#include "rows.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

using Sound = Sharing;
using vec = Sound::vec;
using factor = Sound::factor;

// The last lane of `v` is left as it was.
constexpr vec three_lanes(vec v, vec before) noexcept {
  v.lane[3] = before.lane[3];
  return v;
}

struct StoresOneTooMany : Sound {
  static constexpr void store_n(float* to, vec v, std::size_t n) {
    Sound::store_n(to, v, n);
    to[n] = 0.0f;
  }
};
struct StoresOneTooFew : Sound {
  static constexpr void store_n(float* p, vec v, std::size_t n) { Sound::store_n(p, v, n - 1); }
};
struct SwapsLanes : Sound {
  static constexpr vec load(const float* from) {
    const vec v = Sound::load(from);
    return {v.lane[1], v.lane[0], v.lane[2], v.lane[3]};
  }
};
struct FillsWithZeros : Sound {
  static constexpr vec load_n(const float* p, Size n, float) { return Sound::load_n(p, n, 0); }
};
struct TakesTheSameLane : Sound {
  template <std::size_t By>
  static constexpr vec swapped(vec v) {
    return v;
  }
};
struct ForgetsALaneOfAnFma : Sound {
  using Sound::fma;
  static constexpr vec fma(vec a, vec b, vec c) { return three_lanes(Sound::fma(a, b, c), c); }
};
struct RoundsTwice : Sound {
  using Sound::fma;
  static constexpr vec fma(factor a, vec b, vec c) { return add(mul(b, a), c); }
};
struct RoundsTwiceToAFactor : Sound {
  using Sound::fma;
  static constexpr vec fma(vec a, vec b, factor c) { return add(mul(a, b), c); }
};
struct ForgetsALaneOfAProduct : Sound {
  using Sound::mul;
  static constexpr vec mul(vec a, factor b) { return three_lanes(Sound::mul(a, b), a); }
};
struct ForgetsALaneOfASum : Sound {
  using Sound::add;
  static constexpr vec add(vec a, factor b) { return three_lanes(Sound::add(a, b), a); }
};
struct ForgetsALaneInMax : Sound {
  static constexpr vec larger(vec a, vec b) { return three_lanes(Sound::larger(a, b), a); }
};
struct TakesNanForLess : Sound {
  static constexpr vec select_less(vec a, vec b, vec c, vec d) {
    const auto select = one_lane::select_less;
    return each(select, b, a, d, c);
  }
};
struct LeavesABitOfTheSmallestPower : Sound {
  static constexpr vec exponent_bits(vec n) {
    const vec smallest = splat(0x1p-126f);
    return larger(Sound::exponent_bits(n), smallest);
  }
};

// Tiles of its own, of which one argument is changed.
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
  static constexpr void zip(vec a, vec b, vec& c, vec& d) { Narrowing::zip(b, a, c, d); }
};

struct ScattersTooNear : SharingWithTile {
  using Sound = SharingWithTile;
  static constexpr void scatter(float* p, Size n, vec v) { Sound::scatter(p, n - 1, v); }
};

template <class Port>
void check_kernels(Check& check) {
  check_products_of_any_shape<Port>(check);
  check_transposes<Port>(check);
  check_rows<Port>(check);
}

template <class Broken>
void check_found(Check& check) {
  Check found;
  check_kernels<Broken>(found);
  check.that(found.checks() != 0 && !found.passed());
}

constexpr Test tests[] = {
    at_run_time("a partial store one too long", check_found<StoresOneTooMany>),
    at_run_time("a partial store one too short", check_found<StoresOneTooFew>),
    at_run_time("two lanes of a load swapped", check_found<SwapsLanes>),
    at_run_time("zeros behind a partial load", check_found<FillsWithZeros>),
    at_run_time("lanes that do not change places", check_found<TakesTheSameLane>),
    at_run_time("an fma of three lanes", check_found<ForgetsALaneOfAnFma>),
    at_run_time("an fma with a factor that rounds twice", check_found<RoundsTwice>),
    at_run_time("an fma that adds a factor and rounds twice", check_found<RoundsTwiceToAFactor>),
    at_run_time("a product with a factor of three lanes", check_found<ForgetsALaneOfAProduct>),
    at_run_time("a sum with a factor of three lanes", check_found<ForgetsALaneOfASum>),
    at_run_time("a maximum of three lanes", check_found<ForgetsALaneInMax>),
    at_run_time("a NaN that counts as less", check_found<TakesNanForLess>),
    at_run_time("a power of two that does not reach 0", check_found<LeavesABitOfTheSmallestPower>),
    at_run_time("a tile with the next factor", check_found<TakesTheNextFactor>),
    at_run_time("a tile that starts at zero", check_found<StartsAtZero>),
    at_run_time("a tile without the odd step", check_found<ForgetsTheOddStep>),
    at_run_time("the second vector zipped first", check_found<ZipsTheOtherWay>),
    at_run_time("lanes scattered too near", check_found<ScattersTooNear>),
    at_run_time("nothing in a port that is sound", check_kernels<Sound>),
    at_run_time("nothing in a sound tile", check_kernels<ChangedTile<[](auto&...) {}>>),
};

}  // namespace

int main() { return run(tests); }
