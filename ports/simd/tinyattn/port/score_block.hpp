// SPDX-License-Identifier: MIT
//
// What a kernel passes to a port's find_scores.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

// A block of keys with at least one: sums of their products with a query, and by how many places
// each is shifted right: a product by right - key_scale / 8. If that is negative, any score will
// do: the kernel computes the block again. Then what is found: the maxima.
struct score_block {
  std::uint32_t* sums;  // each lacks `correction`
  std::int32_t* scores;
  const std::uint8_t *key_scales, *value_scales;
  std::size_t count;
  const std::int32_t* multipliers;
  std::int32_t shift, right;
  std::uint32_t correction;

  std::int32_t most = -0x7fffffff;
  std::uint32_t key_scale = 0, value_scale = 0;
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
