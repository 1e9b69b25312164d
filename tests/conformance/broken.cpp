// SPDX-License-Identifier: MIT
//
// Ports that break the contract in one operation each: the checks of products and rows must find every one.
#include "calls.hpp"

#include <cstddef>

#include "products.hpp"
#include "rows.hpp"
#include "wide.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

using Sound = Wide<4, 2, 3, true>;
using vec = Sound::vec;

struct StoresOneTooMany : Sound {
  static constexpr void store_n(float* to, vec v, std::size_t n) noexcept {
    Sound::store_n(to, v, n);
    to[n] = 0.0f;
  }
};

struct StoresOneTooFew : Sound {
  static constexpr void store_n(float* to, vec v, std::size_t n) noexcept { Sound::store_n(to, v, n - 1); }
};

struct SwapsLanes : Sound {
  static constexpr vec load(const float* from) noexcept {
    const vec v = Sound::load(from);
    return {v.lane[1], v.lane[0], v.lane[2], v.lane[3]};
  }
};

struct LoadsARowTwice : Sound {
  template <std::size_t Vectors>
  static constexpr void load_row(const float* from, vec (&row)[Vectors]) noexcept {
    for (vec& v : row) v = load(from);
  }
};

struct RoundsTwice : Sound {
  static constexpr vec fma(vec a, vec b, vec c) noexcept { return add(mul(a, b), c); }
  static constexpr vec fma(float a, vec b, vec c) noexcept { return fma(fill(a), b, c); }
};

struct ForgetsALaneInMax : Sound {
  static constexpr vec max(vec a, vec b) noexcept {
    vec v = Sound::max(a, b);
    v.lane[3] = a.lane[3];
    return v;
  }
};

struct TakesNanForLess : Sound {
  static constexpr vec select_less(vec a, vec b, vec less, vec otherwise) noexcept { return Sound::select_less(b, a, otherwise, less); }
};

struct LeavesABitOfTheSmallestPower : Sound {
  static constexpr vec power_of_two(vec shifted) noexcept { return Sound::max(Sound::power_of_two(shifted), fill(0x1p-126f)); }
};

struct TakesTheNextLane : WideByLane<2> {
  template <std::size_t Step>
  static constexpr float lane(factors several) noexcept {
    return several.lane[(Step + 1) % factor_steps];
  }
};

template <class Port>
void check_products_and_rows(Check& check) {
  check_products_of_any_shape<Port>(check);
  check_rows<Port>(check);
}

template <class Broken>
void check_found(Check& check) {
  Check found;
  check_products_and_rows<Broken>(found);
  check.that(found.checks() != 0 && !found.passed());
}

constexpr Test tests[] = {
    at_run_time("a partial store one too long", check_found<StoresOneTooMany>),
    at_run_time("a partial store one too short", check_found<StoresOneTooFew>),
    at_run_time("two lanes of a load swapped", check_found<SwapsLanes>),
    at_run_time("the first vector of a row in place of the second", check_found<LoadsARowTwice>),
    at_run_time("an fma that rounds twice", check_found<RoundsTwice>),
    at_run_time("a maximum of three lanes", check_found<ForgetsALaneInMax>),
    at_run_time("a NaN that counts as less", check_found<TakesNanForLess>),
    at_run_time("a power of two that does not reach 0", check_found<LeavesABitOfTheSmallestPower>),
    at_run_time("a factor from the next lane", check_found<TakesTheNextLane>),
    at_run_time("nothing in a port that is sound", check_products_and_rows<Sound>),
};

}  // namespace

int main() { return run(tests); }
