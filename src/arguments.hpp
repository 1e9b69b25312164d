// SPDX-License-Identifier: MIT
//
// Checks of arguments that the functions of tinyattn.h and tinyattn_models.h share.
#pragma once

#include "operations.hpp"
#include "tinyattn/port/compiler.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tinyattn::compiled {

// The maximum number of floats in an object, which has no more than PTRDIFF_MAX bytes.
constexpr std::size_t most_floats = static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(float);

constexpr std::size_t larger(std::size_t a, std::size_t b) noexcept { return a < b ? b : a; }

// Whether the sizes of a matrix are valid: none is 0, and it has no more than `most` elements.
template <std::size_t most = most_floats>
constexpr bool is_matrix(std::size_t rows, std::size_t cols) noexcept {
  return rows != 0 && cols != 0 && rows <= most / cols;
}

constexpr bool are_valid(const auto*... arrays) noexcept { return (... && (arrays != nullptr)); }

// Returns the number in an enumeration, read as an integer: a caller in C may have stored one that
// is no enumerator, which C++ may not read as the enumeration.
template <class Enumeration>
inline unsigned number_of(const Enumeration& value) noexcept {
  std::underlying_type_t<Enumeration> number;
  __builtin_memcpy(&number, &value, sizeof(number));
  return static_cast<unsigned>(number);
}

// Whether heads rotate in a known way, or not; `at` has a table for them.
TINYATTN_ALWAYS_INLINE bool is_valid_rotation(const auto& at, std::size_t head_dim) noexcept {
  const unsigned rotary = number_of(at.rotary);
  return rotary == TINYATTN_NO_ROTARY ||
         (rotary <= TINYATTN_HALVES && head_dim % 2 == 0 && are_valid(at.cosines, at.sines));
}

inline bool has_valid_sizes(const tinyattn_layer& layer) noexcept {
  const std::size_t in = layer.d_in, out = layer.d_out, heads = layer.num_heads;
  return heads != 0 && out % heads == 0 && in != 0 && is_matrix(larger(in, out), out) &&
         (layer.num_kv_heads == 0 || heads % layer.num_kv_heads == 0) &&
         is_valid_rotation(layer, out / heads);
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
  if (mask.kind == TINYATTN_ADDITIVE_MASK) return mask.addends != nullptr;
  if (mask.kind == TINYATTN_BLOCK_MASK || mask.kind == TINYATTN_KEEP_MASK)
    return mask.flags != nullptr;
  // Other kinds need no elements. Compares as unsigned: a caller in C may pass a number that is no
  // kind.
  return static_cast<unsigned>(mask.kind) <= TINYATTN_CAUSAL_BOTTOM_RIGHT;
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

// Whether `out` may be where it is. If it is the input of the queries, rows of output must not be
// longer than those of input, or they would overwrite rows that are still to be read. It may be the
// input of keys or values only if that is the input of the queries, too.
inline bool may_replace(const tinyattn_layer& layer, const AttentionCall& call) noexcept {
  if (call.out == call.query) return layer.d_out <= layer.d_in;
  return call.out != call.key && call.out != call.value;
}

// Calls `forward` if all arguments but the layer are valid, too.
TINYATTN_ALWAYS_INLINE tinyattn_status forward_checked(const tinyattn_layer& layer,
                                                       const AttentionCall& call,
                                                       auto forward) noexcept {
  if (call.tokens == 0) return TINYATTN_OK;
  if (!is_valid(call, layer.d_in, layer.d_out, layer.d_out) || !may_replace(layer, call))
    return TINYATTN_BAD_ARGUMENT;
  forward(layer, call);
  return TINYATTN_OK;
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

}  // namespace tinyattn::compiled
