// SPDX-License-Identifier: MIT
//
// The walk over the blocks of a module: a TransformerBlock is one, a Transformer has several and
// perhaps a norm after them. The module may have adapters.
#pragma once

#include "tinyattn/kernel/block.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Returns the module that has the weights: itself, or what is adapted.
template <class Module>
TINYATTN_ALWAYS_INLINE constexpr const auto& base_of(const Module& module) noexcept {
  if constexpr (requires { module.base; })
    return module.base;
  else
    return module;
}

// Returns the blocks of a module, by their numbers; a module with adapters has a function of its
// own.
template <class Module>
TINYATTN_ALWAYS_INLINE constexpr auto blocks_of(const Module& module) noexcept {
  if constexpr (requires { module.blocks; })
    return &module.blocks[0];
  else
    return &module;
}
// The same of a cache.
template <class Cache>
TINYATTN_ALWAYS_INLINE constexpr auto caches_of(Cache& cache) noexcept {
  if constexpr (requires { cache.blocks; })
    return &cache.blocks[0];
  else
    return &cache;
}

// The caches of blocks, each with the same number of tokens.
template <class Cache, std::size_t NumBlocks>
struct CachesOfBlocks {
  // Returns the number of tokens in the cache.
  constexpr std::size_t size() const noexcept { return blocks[0].size(); }
  // Removes all tokens.
  constexpr void clear() noexcept {
    for (auto& block : blocks) block.clear();
  }
  // Whether there is room for `count` more tokens.
  constexpr bool has_room(std::size_t count) const noexcept { return blocks[0].has_room(count); }

  Cache blocks[NumBlocks];  // of each block
};

// Computes x = the norm after the last block, if there is one.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void apply_final_norm(const auto& module, std::size_t rows,
                                                       kernel::Output x) noexcept {
  if constexpr (requires { base_of(module).final_norm.weight; })
    kernel::normalize_features<Port>(describe(base_of(module).final_norm), rows, x, x);
}

// Computes x = module(x) for all tokens of a text.
template <class Port, class Module>
TINYATTN_ALWAYS_INLINE constexpr void apply_blocks(const Module& module, std::size_t tokens,
                                                   kernel::Output x, const auto& mask,
                                                   const auto& scratch) noexcept {
  const auto blocks = blocks_of(module);
  for (std::size_t i = 0; i < Module::num_blocks; ++i)
    kernel::forward_block<Port>(describe(blocks[i]), scratch, tokens, x, mask);
  apply_final_norm<Port>(module, tokens, x);
}

// The same for tokens after those of the cache, without the final norm, which a language model
// needs for the last row only.
template <class Port, class Module>
TINYATTN_ALWAYS_INLINE constexpr void apply_blocks_cached(const Module& module, std::size_t rows,
                                                          kernel::Output x, auto& cache,
                                                          const auto& scratch) noexcept {
  const auto blocks = blocks_of(module);
  const auto caches = caches_of(cache);
  for (std::size_t i = 0; i < Module::num_blocks; ++i) {
    kernel::forward_block_cached<Port>(describe(blocks[i]), caches[i].parts(), scratch,
                                       caches[i].size(), rows, x);
    caches[i].count_tokens(rows);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
