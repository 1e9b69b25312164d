// SPDX-License-Identifier: MIT
//
// Checks of arguments. A kind of weights checks the weights.
#pragma once

#include "operations.hpp"
#include "scratch.hpp"
#include "tinyattn/kernel/activation.hpp"
#include "tinyattn/kernel/embedding.hpp"
#include "tinyattn/kernel/window.hpp"
#include "weights.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tinyattn::compiled {

constexpr std::size_t larger(std::size_t a, std::size_t b) noexcept { return a < b ? b : a; }

constexpr bool are_valid(const auto*... arrays) noexcept { return (... && (arrays != nullptr)); }

TINYATTN_ALWAYS_INLINE bool has_kind(const auto* described) noexcept {
  return described != nullptr && described->kind != nullptr;
}

// Returns the number in an enumeration, read as an integer: a caller in C may have stored one that
// is no enumerator, which C++ may not read as the enumeration.
template <class Enumeration>
inline unsigned number_of(const Enumeration& value) noexcept {
  std::underlying_type_t<Enumeration> number;
  __builtin_memcpy(&number, &value, sizeof(number));
  return static_cast<unsigned>(number);
}

inline bool is_known(const tinyattn_activation& activation) noexcept {
  return number_of(activation) < kernel::num_activations;
}

inline bool is_valid(const tinyattn_sampling& sampling) noexcept {
  return sampling.temperature >= 0.0f && sampling.top_p == sampling.top_p;
}

TINYATTN_ALWAYS_INLINE bool is_valid(const tinyattn_norm& norm) noexcept {
  return norm.weight != nullptr && norm.epsilon >= 0.0f;
}

// --- Products and attention ---

inline bool is_valid(const ProductCall& call) noexcept {
  return is_matrix(call.rows, call.inner) && is_matrix(call.inner, call.cols) &&
         is_matrix(call.rows, call.cols) && are_valid(call.a, call.b, call.out) &&
         call.out != call.a && call.out != call.b;
}

// Whether the sums and products that count the scratch do not wrap.
inline bool has_scratch(std::size_t width, std::size_t tokens, std::size_t source_tokens) noexcept {
  constexpr std::size_t most = most_floats / 4;
  if (source_tokens > most || tokens > most) return false;
  constexpr std::size_t query_rows = TINYATTN_QUERY_ROWS(most);
  const std::size_t rows = TINYATTN_PADDED(source_tokens) + TINYATTN_BLOCK_ROWS(most);
  return rows <= most / (width > query_rows ? width : query_rows);
}

inline bool has_elements(const tinyattn_mask& mask) noexcept {
  const unsigned kind = number_of(mask.kind);
  if (kind == TINYATTN_ADDITIVE_MASK) return mask.addends != nullptr;
  if (kind == TINYATTN_BLOCK_MASK || kind == TINYATTN_KEEP_MASK) return mask.flags != nullptr;
  return kind <= TINYATTN_CAUSAL_BOTTOM_RIGHT;
}

// Whether a call is valid whose queries and keys have `in` columns, and values and output `out`,
// neither of them 0, with scratch for a layer `width` wide.
inline bool is_valid(const AttentionCall& call, std::size_t in, std::size_t out,
                     std::size_t width) noexcept {
  const std::size_t tokens = call.tokens, source_tokens = call.source_tokens;
  return is_matrix(tokens, source_tokens) &&
         is_matrix(larger(tokens, source_tokens), larger(in, out)) &&
         has_scratch(width, tokens, source_tokens) &&
         are_valid(call.query, call.key, call.value, call.out, call.scratch) &&
         (call.mask == nullptr || has_elements(*call.mask));
}

// --- Layers ---

// Whether heads rotate in a known way, or not; `at` has a table for them, if they need one.
TINYATTN_ALWAYS_INLINE bool is_valid_rotation(const auto& at, std::size_t head_dim,
                                              bool needs_table = true) noexcept {
  const unsigned rotary = number_of(at.rotary);
  return rotary == TINYATTN_NO_ROTARY || (rotary <= TINYATTN_HALVES && head_dim % 2 == 0 &&
                                          (!needs_table || are_valid(at.cosines, at.sines)));
}

TINYATTN_ALWAYS_INLINE bool has_valid_heads(std::size_t width, std::size_t heads,
                                            std::size_t kv_heads) noexcept {
  return heads != 0 && width % heads == 0 && (kv_heads == 0 || heads % kv_heads == 0);
}

TINYATTN_ALWAYS_INLINE bool has_valid_sizes(const tinyattn_layer& layer) noexcept {
  const std::size_t in = layer.d_in, out = layer.d_out;
  return has_valid_heads(out, layer.num_heads, layer.num_kv_heads) && in != 0 &&
         is_matrix(larger(in, out), out);
}

// Whether a layer, or a block of a model, has its projections.
template <class Weights>
TINYATTN_ALWAYS_INLINE bool has_projections(const auto& linears, std::size_t in, std::size_t out,
                                            std::size_t kv_width) noexcept {
  return Weights::is_valid(linears.query, in, out) &&
         Weights::is_valid(linears.key, in, kv_width) &&
         Weights::is_valid(linears.value, in, kv_width) &&
         Weights::is_valid(linears.out_proj, out, out, true);
}

template <class Weights>
bool is_valid_layer(const tinyattn_layer& layer) noexcept {
  const std::size_t in = layer.d_in, out = layer.d_out;
  return has_valid_sizes(layer) && is_valid_rotation(layer, out / layer.num_heads) &&
         has_projections<Weights>(layer, in, out, out);
}

template <class Weights>
bool is_valid_linear(const tinyattn_linear& linear, std::size_t in, std::size_t out,
                     const float* scratch) noexcept {
  return Weights::is_valid(linear, in, out) && (!Weights::has_integers || scratch != nullptr);
}
template <class Weights>
bool is_valid_convolution(const tinyattn_convolution& c, const float* scratch) noexcept {
  return is_valid_linear<Weights>(c.linear, c.kernel * c.in, c.out, scratch);
}

// Whether `out` may be where it is. If it is the input of the queries, rows of output must not be
// longer than those of input, or they would overwrite rows that are still to be read. It may be the
// input of keys or values only if that is the input of the queries, too.
inline bool may_replace(const tinyattn_layer& layer, const AttentionCall& call) noexcept {
  if (call.out == call.query) return layer.d_out <= layer.d_in;
  return call.out != call.key && call.out != call.value;
}

// Returns the number of tokens that a convolution makes, or 0 if there is none, or if sizes are not
// valid.
inline std::size_t tokens_after(const tinyattn_convolution& c, std::size_t tokens) noexcept {
  if (c.stride == 0 || c.padding >= c.kernel || !is_matrix(c.kernel, c.in) || c.out == 0) return 0;
  if (!is_matrix(c.kernel * c.in, c.out) || !is_matrix(tokens, c.in)) return 0;
  const std::size_t padded = tokens + 2 * c.padding;
  const std::size_t rows = padded < c.kernel ? 0 : (padded - c.kernel) / c.stride + 1;
  return is_matrix(rows, c.out) ? rows : 0;
}

// --- Models ---

TINYATTN_ALWAYS_INLINE bool has_common_sizes(const auto& model) noexcept {
  return has_valid_heads(model.d_model, model.num_heads, model.num_kv_heads) &&
         model.d_model != 0 && model.d_hidden != 0 && model.context_length != 0 &&
         model.num_layers != 0;
}

// Whether the sizes of an encoder are valid, and its scratch can be counted.
inline bool have_sense(const tinyattn_encoder& e) noexcept {
  return has_common_sizes(e) && e.d_hidden <= most_floats / 128 &&
         is_matrix(larger(e.d_hidden, e.d_model), e.d_model) &&
         has_scratch(e.d_model, e.context_length, e.context_length);
}

// A maximum that is larger than any array of a decoder in practice, and so small that the cache,
// with twice as many floats, or of int8 with five times as many words if heads have one feature,
// and the scratch, with six times as many floats, can be addressed.
constexpr std::size_t most_of_decoder = most_floats / 8;

[[gnu::noinline]] inline bool have_sense(const tinyattn_decoder& d) noexcept {
  if (!has_common_sizes(d) || d.num_kv_heads == 0 || d.vocabulary == 0 || d.vocabulary > 65536)
    return false;
  if (d.window > most_of_decoder / 4) return false;
  const std::size_t tokens = cached_tokens(d);
  if (d.kind->has_int8_cache && tokens > kernel::most_inputs) return false;
  const std::size_t widest =
      larger(larger(d.vocabulary, d.d_hidden), larger(tokens, library::FloatCache::scores(d)));
  if (!is_matrix<most_of_decoder>(widest, d.d_model)) return false;
  return d.num_layers <= most_of_decoder / (tokens * d.d_model + TINYATTN_LANES);
}

// Whether the scratch of a model can be counted: no row of integers is longer than its sums allow.
inline bool has_valid_sizes(const auto* model) noexcept {
  return has_kind(model) && have_sense(*model) &&
         (!model->kind->has_integers ||
          larger(model->d_model, model->d_hidden) <= kernel::most_inputs);
}

inline std::size_t integers_of(const auto& model, std::size_t rows) noexcept {
  const std::size_t inputs = larger(model.d_model, model.d_hidden);
  return model.kind->has_integers ? TINYATTN_INTEGERS(rows, inputs) : 0;
}

// Whether all blocks of a model have norms and weights.
template <class Weights>
bool has_blocks(const auto& model) noexcept {
  const std::size_t d_model = model.d_model, d_hidden = model.d_hidden;
  const std::size_t kv_width = d_model / group_of(model);
  for (const tinyattn_block* block = model.blocks; block != model.blocks + model.num_layers;
       ++block)
    if (!is_valid(block->attention_norm) || !is_valid(block->feed_forward_norm) ||
        !has_projections<Weights>(*block, d_model, d_model, kv_width) ||
        !Weights::is_valid(block->up, d_model, d_hidden) ||
        !Weights::is_valid(block->gate, d_model, d_hidden, true) ||
        !Weights::is_valid(block->down, d_hidden, d_model))
      return false;
  return true;
}

// Whether what encoders and decoders have in common is valid.
template <class Weights>
TINYATTN_ALWAYS_INLINE bool is_valid_model(const auto& model, bool needs_table) noexcept {
  return have_sense(model) && are_valid(model.blocks) && is_known(model.activation) &&
         is_valid_rotation(model, model.d_model / model.num_heads, needs_table) &&
         (model.final_norm.weight == nullptr || is_valid(model.final_norm)) &&
         has_blocks<Weights>(model);
}

template <class Weights>
bool is_valid_encoder(const tinyattn_encoder& e) noexcept {
  return is_valid_model<Weights>(e, true);
}

inline bool turns_without_end(const tinyattn_decoder& d) noexcept {
  return d.window != 0 && d.speeds != nullptr;
}

// Returns the number of tokens that a text may have.
inline std::size_t most_tokens(const tinyattn_decoder& d) noexcept {
  const bool rotates = d.rotary != TINYATTN_NO_ROTARY;
  if (d.window == 0 || d.position_embedding != nullptr || (rotates && !turns_without_end(d)))
    return d.context_length;
  return rotates ? kernel::most_positions : SIZE_MAX;
}

template <class Weights>
bool is_valid_decoder(const tinyattn_decoder& d) noexcept {
  const tinyattn_linear embedding{d.token_embedding, nullptr, d.token_codes, d.token_scales};
  return is_valid_model<Weights>(d, !turns_without_end(d)) &&
         Weights::is_valid(embedding, d.d_model, d.vocabulary) &&
         Weights::is_valid(d.head, d.d_model, d.vocabulary, true) &&
         (has_weight(d.head) || d.head.bias == nullptr);
}

// A layer or a model of any kind.
TINYATTN_ALWAYS_INLINE bool is_valid(const auto* model) noexcept {
  return has_kind(model) && model->kind->is_valid(*model);
}

}  // namespace tinyattn::compiled
