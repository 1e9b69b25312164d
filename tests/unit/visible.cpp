// SPDX-License-Identifier: MIT
//
// What kernels may ask of a mask, held to what it says key by key: where every query of a block sees, and from where on none does.
#include "tinyattn/kernel/visible.hpp"

#include "plain.hpp"
#include "support/check.hpp"
#include "tinyattn/mask.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr std::size_t tokens = 5;
constexpr std::size_t source = 4;
using Keys = kernel::Extent<source>;

constexpr auto keep = matrix<bool>({{true, false, true, true},
                                    {false, false, false, true},
                                    {false, false, false, false},
                                    {true, true, true, true},
                                    {false, true, true, false}});
constexpr auto addend = masked_fill(zeros<float, tokens, source>(), keep, -infinity);

constexpr auto all = kernel::visible(NoMask{}, tokens, Keys{});
constexpr auto causal = kernel::visible(Causal{}, tokens, Keys{});
constexpr auto bottom_right = kernel::visible(CausalBottomRight{}, tokens, Keys{});
constexpr kernel::SeesWhere<Keys, true> kept{{}, keep.elements, source};
constexpr kernel::SeesWithAddend<Keys> added{{}, addend.elements, source};

template <class A, class B>
constexpr kernel::SeesBoth<A, B> both(A a, B b) noexcept {
  return {a, b};
}

// For every block of queries and every key.
template <class Visible>
constexpr void check_bounds(Check& check, const Visible& visible, std::size_t queries = tokens) {
  check.that(visible.keys() == source);
  for (std::size_t i = 0; i < queries; ++i) {
    for (std::size_t rows = 1; rows <= queries - i; ++rows) {
      const std::size_t common = visible.common(i, rows), end = visible.end(i, rows);
      check.that(common <= end && end <= source);
      for (std::size_t query = i; query < i + rows; ++query) {
        for (std::size_t j = 0; j < common; ++j) check.that(visible.sees(query, j));
        for (std::size_t j = end; j < source; ++j) check.that(!visible.sees(query, j));
      }
    }
    for (std::size_t j = 0; j < visible.end(i, 1); ++j) check.that(Visible::has_holes || visible.sees(i, j));
  }
}

constexpr void check_both(Check& check, const auto& a, const auto& b) {
  const auto visible = both(a, b);
  check_bounds(check, visible);
  for (std::size_t i = 0; i < tokens; ++i) {
    for (std::size_t j = 0; j < source; ++j) check.that(visible.sees(i, j) == (a.sees(i, j) && b.sees(i, j)));
  }
}

constexpr Test tests[] = {
    everywhere("each mask",
               [](Check& check) {
                 check_bounds(check, all);
                 check_bounds(check, causal);
                 check_bounds(check, bottom_right);
                 check_bounds(check, kept);
                 check_bounds(check, added);
               }),
    everywhere("of two masks either hides",
               [](Check& check) {
                 check_both(check, causal, kept);
                 check_both(check, kept, causal);
                 check_both(check, all, kept);
                 check_both(check, bottom_right, added);
                 check_both(check, kept, added);
               }),
    everywhere("a block of queries in the middle",
               [](Check& check) {
                 const auto block = kernel::see_from(both(bottom_right, kept), 2);
                 check_bounds(check, block, tokens - 2);
                 for (std::size_t i = 2; i < tokens; ++i) {
                   for (std::size_t j = 0; j < source; ++j) check.that(block.sees(i - 2, j) == (j + 1 <= i && keep(i, j)));
                 }
               }),
};

}  // namespace

int main() { return run(tests); }
