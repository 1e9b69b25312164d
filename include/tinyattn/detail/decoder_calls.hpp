// SPDX-License-Identifier: MIT
//
// The memory of decoders that read a source, and their calls with tensors.
#pragma once

#include "tinyattn/attention_cache.hpp"
#include "tinyattn/detail/block_calls.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

template <auto config>
inline constexpr std::size_t integer_width_of_decoder =
    kernel::maximum(integer_width_of_block<config>, integer_width<config.cross_attention>);

// All the scratch of a block, or of blocks that run one after the other.
template <auto config, class Block, class OfSource = typename Block::CrossAttention::Workspace>
struct DecoderWorkspace
    : BlockWorkspace<config, typename Block::Attention, typename Block::Hidden,
                     integer_width_of_decoder<config>, sizeof(OfSource::scratch),
                     words_of_call<config.cross_attention>> {
  [[no_unique_address]] KeysAndValuesOfCall<config.cross_attention> of_source;

  TINYATTN_ALWAYS_INLINE constexpr auto parts() noexcept {
    return kernel::DecoderBlockScratch{
        DecoderWorkspace::BlockWorkspace::parts(),
        OfSource::parts_of(this->scratch, this->integers.parts(), of_source)};
  }
};

// The same of a call with a cache.
template <auto config>
using DecoderCachedWorkspace = CachedWorkspace<
    config, 0, integer_width_of_decoder<config>,
    kernel::maximum(scores_in_floats<config.attention>, scores_in_floats<config.cross_attention>),
    kernel::maximum(words_of_scores<config.attention>, words_of_scores<config.cross_attention>)>;

// The keys and values of a text and of a source, which are kept alike, for each block.
template <AttentionConfig config>
inline constexpr AttentionConfig kept_as_text = [] {
  AttentionConfig kept = config;
  kept.causal = true;
  return kept;
}();
template <auto config>
struct DecoderBlockCache : KeyValueCache<config.attention> {
  TINYATTN_ALWAYS_INLINE constexpr auto parts() noexcept {
    return kernel::CachedWithSource{KeyValueCache<config.attention>::parts(), source.parts(),
                                    source.size()};
  }

  KeyValueCache<kept_as_text<config.cross_attention>> source;
};

// --- Checks ---

template <class Count>
concept count_like = std::is_convertible_v<Count, std::size_t>;

// A cache of a module, which one that is not causal does not have, and the workspace that goes with
// it.
template <class Cache, class Workspace, class Module>
concept cache_of = requires(Cache& cache) {
  cache.has_room(std::size_t{1});
}
&&std::is_base_of_v<typename Module::Cache, Cache>&&
    std::is_base_of_v<typename Module::Cache::Workspace, Workspace>;

template <auto config, class TensorX, class Memory, bool counted_at_run_time>
consteval bool check_memory() noexcept {
  using Layout = LayoutOf<Memory>;
  constexpr bool floats = holds_floats<Memory>, columns = Layout::cols == d_key<config>,
                 batches = same_batch<TensorX, Memory>,
                 length = counted_at_run_time || Layout::rows <= config.context_length;
  static_assert(floats, "memory must hold floats");
  static_assert(columns, "memory must have d_model columns, or d_key of cross_attention");
  static_assert(batches, "x and memory must have the same batch extents");
  static_assert(length, "memory has more tokens than context_length of cross_attention");
  return floats && columns && batches && length;
}

// Returns the most tokens of a call.
template <auto config, class TensorX>
inline constexpr std::size_t most_rows = kernel::minimum(config.context_length,
                                                         LayoutOf<TensorX>::rows);

// --- Calls ---

// Fills a cache with the keys and values of a source, for all blocks.
template <auto config, class Memory>
constexpr Status begin_decoder(const auto& module, const Memory& memory, std::size_t source_tokens,
                               auto& cache, auto& workspace) noexcept {
  if constexpr (check_memory<config.cross_attention, Memory, Memory, true>() &&
                check_cached<Memory>()) {
    if (source_tokens > most_rows<config.cross_attention, Memory>) return Status::too_many_tokens;
    cache.clear();
    on_native_port([&](auto port) {
      for (std::size_t i = 0; i < std::remove_cvref_t<decltype(module)>::num_blocks; ++i) {
        auto& source = cache.blocks[i].source;
        source.clear();
        kernel::cache_source<decltype(port)>(describe(module.blocks[i].cross_attention),
                                             source.parts(), workspace.parts().attention,
                                             source_tokens, input(memory, 0));
        source.count_tokens(source_tokens);
      }
    });
  }
  return Status::ok;
}

// Computes out = module(x, memory) for the first rows of every batch element.
template <auto config, bool is_counted, class TensorX, class Memory, class Mask, class MemoryMask,
          class Out>
constexpr Status forward_decoder(const auto& module, const TensorX& x, const Memory& memory,
                                 std::size_t tokens, std::size_t source_tokens, const Mask& mask,
                                 const MemoryMask& memory_mask, Out& out,
                                 auto& workspace) noexcept {
  if constexpr (check_layer<config.attention, TensorX, TensorX, TensorX, Out, is_counted>() &&
                check_memory<config.cross_attention, TensorX, Memory, is_counted>() &&
                check_mask_of<Mask, TensorX, TensorX, config.attention.num_heads>() &&
                check_mask_of<MemoryMask, TensorX, Memory, config.cross_attention.num_heads>()) {
    if (tokens > most_rows<config.attention, TensorX> ||
        source_tokens > most_rows<config.cross_attention, Memory>)
      return Status::too_many_tokens;
    const auto of_text = with_mask_of<config.attention>(kernel_mask(mask, tokens, tokens));
    const auto of_source = kernel_mask(memory_mask, tokens, source_tokens);
    on_native_port([&](auto port) {
      for (std::size_t i = 0; tokens != 0 && i < LayoutOf<TensorX>::batch; ++i) {
        const kernel::Output rows = output(out, i);
        copy_features<decltype(port)>(tokens, config.attention.d_in, input(x, i), rows);
        for (const auto& block : module.blocks)
          kernel::forward_block<decltype(port)>(
              describe(block), workspace.parts(), tokens, rows, of_text,
              kernel::Source{source_tokens, input(memory, i)}, of_source);
        apply_final_norm<decltype(port)>(module, tokens, rows);
      }
    });
  }
  return Status::ok;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
