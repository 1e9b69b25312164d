// SPDX-License-Identifier: MIT
//
// Compares the kernels of whole models on a port with the scalar port: norms, rotary positions, attention with a cache, the feed-forward
// part.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "same_bits.hpp"
#include "tinyattn/kernel/block.hpp"

namespace tinyattn::test {

template <class Port>
void check_norms(Check& check) {
  for (const auto dim : std::initializer_list<std::size_t>{1, 3, 4, 5, 15, 16, 17, 31, 32, 33, 47, 67})
    for (const bool has_bias : {false, true}) {
      const kernel::Norm norm{dim, source(1), has_bias ? source(2) : nullptr, 1e-5f};
      const std::size_t stride = dim + gap;
      const auto compute = [&](auto port, float* out) {
        kernel::normalize_features<decltype(port)>(norm, 3, {source(dim), stride}, {out, stride});
      };
      check_same_bits<Port>(check, 3 * stride, compute, compute);
    }
}

// A cache to check: `group` query heads share a key head; `turns`: features rotate; tokens are read `at_once` at a time.
struct CacheCase {
  std::size_t heads, group, head_dim;
  bool is_interleaved, turns;
  std::size_t at_once;
};

// Compares a forward with a cache with one causal forward over all tokens by the scalar port.
template <class Port>
void check_cache(Check& check, const CacheCase& c) {
  constexpr std::size_t tokens = 19, d_in = 5;
  const std::size_t width = c.heads * c.head_dim, kv_width = width / c.group;
  const kernel::GroupedLayer layer{
      {d_in, width, c.heads, c.head_dim, 0.6f, {source(1), nullptr}, {source(2), source(3)}, {source(4), nullptr}, {source(5), source(6)}},
      c.group,
      c.turns ? kernel::rotation_of(source(7), source(8), c.is_interleaved, c.head_dim) : kernel::Rotation{}};
  const kernel::Dense x{source(9), d_in};
  static Field<field_size> keys_and_values, scratch;
  const auto at_once = [&](auto port, float* out) {
    const kernel::Scratch parts = kernel::parts_of(scratch.cleared(), width, kv_width, tokens, std::size_t{1}, std::size_t{1});
    kernel::forward<decltype(port), kernel::LayerShape{}>(layer, parts, kernel::Item{0, tokens, tokens, x, x, x, {out, width + gap}},
                                                          {tokens, 0}, kernel::ignore_weights());
  };
  const auto by_cache = [&](auto port, float* out) {
    const kernel::Cached cache = kernel::cached(keys_and_values.cleared(), kv_width, tokens);
    const kernel::CachedScratch parts = kernel::cached_parts(scratch.cleared(), c.at_once, width, tokens);
    for (std::size_t past = 0; past < tokens; past += c.at_once)
      kernel::forward_cached<decltype(port)>(layer, cache, parts, past, kernel::minimum(c.at_once, tokens - past), x.from(past, 0),
                                             {out + past * (width + gap), width + gap});
  };
  check_same_bits<Port>(check, tokens * (width + gap), at_once, by_cache);
  check.that(keys_and_values.is_untouched_beside(kernel::cache_floats(kv_width, tokens)));
  check.that(scratch.is_untouched_beside(kernel::cached_scratch(c.at_once, width, tokens)));
}

template <class Port>
void check_caches(Check& check) {
  check_cache<Port>(check, {1, 1, 2, false, false, 1});
  check_cache<Port>(check, {2, 2, 6, true, true, 1});
  check_cache<Port>(check, {3, 1, 8, false, true, 1});
  check_cache<Port>(check, {4, 2, 8, true, true, 4});
  check_cache<Port>(check, {6, 3, 4, false, true, 3});
  check_cache<Port>(check, {2, 1, 16, true, true, 2});
}

template <class Port>
void check_feed_forward(Check& check) {
  static Field<field_size> scratch;
  for (const auto rows : std::initializer_list<std::size_t>{1, 2, 5})
    for (const auto d_hidden : std::initializer_list<std::size_t>{3, 16, 21, 37})
      for (const bool is_gated : {false, true}) {
        constexpr std::size_t d_model = 7;
        const kernel::FeedForward layer{
            d_model, d_hidden, Activation::silu, {source(1), source(2)}, {is_gated ? source(3) : nullptr, nullptr}, {source(4), nullptr}};
        const auto compute = [&](auto port, float* out) {
          kernel::feed_forward<decltype(port)>(layer, rows, {source(5), d_model}, {out, d_model + gap}, scratch.cleared());
        };
        check_same_bits<Port>(check, rows * (d_model + gap), compute, compute);
        check.that(scratch.is_untouched_beside(kernel::hidden_scratch(rows, d_hidden, is_gated)));
      }
}

template <class Port>
void check_models(Check& check) {
  check_norms<Port>(check);
  check_caches<Port>(check);
  check_feed_forward<Port>(check);
}

}  // namespace tinyattn::test
