// SPDX-License-Identifier: MIT
//
// What kernels may ask of a mask, held to what the masks of the interface say key by key.
#include <cstddef>
#include <functional>

#include "plain.hpp"
#include "support/check.hpp"
#include "tinyattn/mask.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr std::size_t tokens = 5;
constexpr std::size_t source = 4;

constexpr auto flags = matrix<bool>({{true, false, true, true},
                                     {false, false, false, true},
                                     {false, false, false, false},
                                     {true, true, true, true},
                                     {false, true, true, false}});
constexpr auto key_flags = vector<bool>({true, false, true, true});

constexpr auto flag = [](std::size_t i, std::size_t j) { return flags(i, j); };
constexpr auto key_flag = [](std::size_t, std::size_t j) { return key_flags(j); };
constexpr auto sees_before = [](std::size_t i, std::size_t j) { return j < i; };

// Query i sees key j where sees(i, j) says so: below its end, and not hidden.
constexpr void check_bounds(Check& check, kernel::Mask mask, auto sees, std::size_t queries) {
  for (std::size_t i = 0; i < queries; ++i) {
    check.that(mask.end(i) <= source && mask.common(i) <= mask.end(i));
    check.that(i == 0 || mask.end(i - 1) <= mask.end(i));
    for (std::size_t j = 0; j < source; ++j) {
      const bool is_hidden = j < mask.end(i) && mask.hides(i, j);
      check.that((j < mask.end(i) && !is_hidden) == sees(i, j));
      check.that(mask.has_holes() || !is_hidden);
      const bool is_common = j < mask.common(i);
      for (std::size_t q = i; q < queries; ++q) check.that(!is_common || sees(q, j));
    }
  }
}

// By itself, and where a causal mask shows the same keys only.
constexpr void check_mask(Check& check, const auto& mask, auto sees, std::size_t queries = tokens) {
  const auto past = [=](std::size_t i, std::size_t j) { return j <= i && sees(i, j); };
  const kernel::Mask bounds = kernel::mask_of(mask, queries, source);
  check_bounds(check, bounds, sees, queries);
  check_bounds(check, kernel::and_causal(bounds), past, queries);
}

constexpr Test tests[] = {
    everywhere("no mask, causal from the top left and from the bottom right",
               [](Check& check) {
                 check_mask(check, NoMask{}, sees_everything);
                 check_mask(check, Causal{}, sees_the_past);
                 check_mask(check, CausalBottomRight{}, sees_before);
                 const auto two_more = [](std::size_t i, std::size_t j) { return j <= i + 2; };
                 check_mask(check, CausalBottomRight{}, two_more, 2);
                 check.equal(kernel::mask_of(NoMask{}, tokens, source).common(0), source);
                 check.equal(kernel::mask_of(CausalBottomRight{}, 2, source).common(0), 3u);
               }),
    everywhere("flags that hide, and flags that show",
               [](Check& check) {
                 check_mask(check, KeepMask{hidden(flags)}, flag);
                 check_mask(check, BlockMask{hidden(flags)}, std::not_fn(flag));
                 check_mask(check, KeepMask{hidden(key_flags)}, key_flag);
                 check_mask(check, BlockMask{hidden(key_flags)}, std::not_fn(key_flag));
               }),
    everywhere("addends, of which -infinity hides",
               [](Check& check) {
                 auto finite = full<float, tokens, source>(0.5f);
                 finite(1, 0) = quiet_nan;
                 finite(3, 1) = infinity;
                 const AdditiveMask addends{hidden(masked_fill(finite, flags, -infinity))};
                 check_mask(check, addends, std::not_fn(flag));
                 const auto of_keys = masked_fill(full<float, source>(2.0f), key_flags, -infinity);
                 check_mask(check, AdditiveMask{hidden(of_keys)}, std::not_fn(key_flag));
               }),
    everywhere("of two masks either hides",
               [](Check& check) {
                 const auto both = [](auto i, auto j) { return j < i && flag(i, j); };
                 const auto order = kernel::mask_of(CausalBottomRight{}, tokens, source);
                 const auto mask = kernel::with_flags(order, flags.data(), true, source);
                 check_bounds(check, mask, both, tokens);
               }),
};

}  // namespace

int main() { return run(tests); }
