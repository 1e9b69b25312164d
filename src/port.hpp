// SPDX-License-Identifier: MIT
//
// The operations on the port of this translation unit: kernels for sizes that are known at run
// time. attention.cpp has checked the arguments.
#pragma once

#include "features.hpp"
#include "operations.hpp"
#include "projections.hpp"
#include "scratch.hpp"
#include "tinyattn/detail/attention_workspace.hpp"
#include "tinyattn/kernel/convolution.hpp"
#include "tinyattn/kernel/layer.hpp"
#include "tinyattn/kernel/pooling.hpp"
#include "tinyattn/port/sqrt_in_integers.hpp"

#include <cstddef>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

using namespace compiled;
using port::detail::inverse_sqrt_in_integers;

inline void matmul(const ProductCall& call) noexcept {
  const std::size_t inner = call.inner, cols = call.cols;
  kernel::matmul<native_port>(
      {call.rows, inner, cols, {call.a, inner}, {call.b, cols}, nullptr, {call.out, cols}});
}

inline void matmul_transposed(const ProductCall& call) noexcept {
  const std::size_t inner = call.inner, cols = call.cols;
  kernel::matmul<native_port>(kernel::Product<kernel::Dense, kernel::Transposed<>>{
      call.rows, inner, cols, {call.a, inner}, {{call.b, inner}}, nullptr, {call.out, cols}});
}

inline void softmax(std::size_t rows, std::size_t cols, float scale, const float* m,
                    float* out) noexcept {
  if (kernel::is_no_scale(scale)) {
    kernel::level_rows<native_port>(rows, cols, {m, cols}, {out, cols});
    m = out;
    scale = 1.0f;
  }
  const auto end_of = [=](std::size_t) { return cols; };
  kernel::softmax<native_port, false>(rows, {m, cols}, {out, cols}, end_of, scale);
}

// Returns the mask of `call` as kernels take it.
TINYATTN_ALWAYS_INLINE kernel::Mask mask_of(const AttentionCall& call) noexcept {
  kernel::Mask mask = kernel::no_mask(call.source_tokens);
  if (call.mask == nullptr) return mask;
  const auto& [kind, one_row, flags, addends] = *call.mask;
  const std::size_t stride = one_row ? 0 : call.source_tokens;
  if (kind == TINYATTN_CAUSAL) return kernel::and_causal(mask);
  if (kind == TINYATTN_BLOCK_MASK) return kernel::with_flags(mask, flags, false, stride);
  if (kind == TINYATTN_KEEP_MASK) return kernel::with_flags(mask, flags, true, stride);
  if (kind == TINYATTN_ADDITIVE_MASK) return kernel::with_addends(mask, addends, stride);
  if (kind == TINYATTN_CAUSAL_BOTTOM_RIGHT)
    mask.diagonal -= static_cast<std::ptrdiff_t>(call.tokens);
  return mask;
}

inline void attention(std::size_t key_dim, std::size_t value_dim,
                      const AttentionCall& call) noexcept {
  const kernel::Output scores{call.scratch, TINYATTN_PADDED(call.source_tokens)};
  kernel::attend<native_port, true>({call.tokens,
                                     native_port::query_rows,
                                     key_dim,
                                     value_dim,
                                     0,
                                     0,
                                     {call.query, key_dim},
                                     {call.key, key_dim},
                                     {call.value, value_dim},
                                     scores,
                                     {call.out, value_dim},
                                     inverse_sqrt_in_integers(key_dim)},
                                    mask_of(call), kernel::IgnoreWeights{});
}

// Returns the number of queries in a block, at most those that there is scratch for.
inline std::size_t block_rows(std::size_t tokens) noexcept {
  constexpr std::size_t most = native_port::block_rows;
  return most <= TINYATTN_BLOCK_ROWS(most) ? most
                                           : TINYATTN_FEWER(TINYATTN_BLOCK_ROWS(tokens), most);
}

// Rotary positions of a table, or none. Kept as a pointer, so that a call costs little flash.
struct LayerRotation {
  const tinyattn_layer* layer;
};
[[gnu::noinline]] inline void rotate_rows(const tinyattn_layer& layer, std::size_t rows,
                                          std::size_t columns, std::size_t position,
                                          float* x) noexcept {
  if (layer.rotary == TINYATTN_NO_ROTARY) return;
  const std::size_t head_dim = layer.d_out / layer.num_heads;
  const bool is_interleaved = layer.rotary == TINYATTN_INTERLEAVED;
  kernel::rotate<native_port>(
      kernel::rotation_of(layer.cosines, layer.sines, is_interleaved, head_dim), rows,
      columns / head_dim, head_dim, position, {x, columns});
}
// Rows of queries and keys have no gaps between them in the scratch.
template <class Port>
TINYATTN_ALWAYS_INLINE void rotate(LayerRotation rotation, std::size_t rows, std::size_t,
                                   std::size_t, std::size_t position, kernel::Output x) noexcept {
  rotate_rows(*rotation.layer, rows, x.stride, position, x.data);
}

template <class Weights>
TINYATTN_ALWAYS_INLINE void forward(const tinyattn_layer& layer, const AttentionCall& call,
                                    const kernel::Mask& mask) noexcept {
  const std::size_t d_in = layer.d_in, d_out = layer.d_out, head_dim = d_out / layer.num_heads;
  const std::size_t group = group_of(layer.num_heads, layer.num_kv_heads), of_keys = d_out / group;
  const kernel::Dense query{call.query, d_in}, key{call.key, d_in}, value{call.value, d_in};
  const LayerLayout at =
      layer_layout<Weights>(d_in, d_out, of_keys, call.tokens, call.source_tokens);
  const auto integers = Weights::take(call.scratch + at.integers, TINYATTN_QUERY_ROWS(call.tokens));
  kernel::forward_inline<native_port>(
      kernel::GroupedLayer<typename Weights::Weight, LayerRotation>{
          {d_in, d_out, layer.num_heads, head_dim, inverse_sqrt_in_integers(head_dim),
           Weights::projection(layer.query), Weights::projection(layer.key),
           Weights::projection(layer.value), Weights::projection(layer.out_proj)},
          group,
          {&layer}},
      kernel::parts_of(call.scratch, d_out, of_keys, call.source_tokens, block_rows(call.tokens),
                       TINYATTN_FEWER(call.tokens, native_port::query_rows), integers),
      kernel::BatchElement{
          0, call.tokens, call.source_tokens, query, key, value, {call.out, d_out}},
      layer.causal ? kernel::and_causal(mask) : mask, kernel::IgnoreWeights{});
  Weights::give_back();
}

// Two functions, so that a firmware without masks contains no code for them.
template <class Weights>
inline void plain_forward(const tinyattn_layer& layer, const AttentionCall& call) noexcept {
  forward<Weights>(layer, call, kernel::no_mask(call.source_tokens));
}
template <class Weights>
inline void masked_forward(const tinyattn_layer& layer, const AttentionCall& call) noexcept {
  forward<Weights>(layer, call, mask_of(call));
}

TINYATTN_ALWAYS_INLINE kernel::Convolution shape_of(const tinyattn_convolution& convolution,
                                                    std::size_t tokens) noexcept {
  return {tokens,
          convolution.in,
          convolution.out,
          convolution.kernel,
          convolution.stride,
          convolution.padding};
}

inline void convolve(const tinyattn_convolution& convolution,
                     const ConvolutionCall& call) noexcept {
  kernel::convolve<native_port>(shape_of(convolution, call.tokens), call.x,
                                Floats::projection(convolution.linear), {call.out, convolution.out},
                                kernel::NoScratch{}, nullptr);
}

inline void mean(std::size_t tokens, std::size_t features, const float* x, float* out) noexcept {
  kernel::mean_of_rows<native_port>(tokens, features, {x, features}, out);
}

inline void largest(std::size_t tokens, std::size_t features, const float* x, float* out) noexcept {
  kernel::maximum_of_rows<native_port>(tokens, features, {x, features}, out);
}

inline void standardize(std::size_t rows, std::size_t features, const float* x, const float* mean,
                        const float* inverse_deviation, float* out) noexcept {
  for (std::size_t i = 0; i < rows; ++i)
    kernel::standardize_row<native_port>(x + i * features, mean, inverse_deviation,
                                         out + i * features, features);
}

#define TINYATTN_NAME_OF(port) TINYATTN_TEXT(port)
static constexpr Operations native_operations = {TINYATTN_NAME_OF(TINYATTN_PORT),
                                                 features_of_this_unit,
                                                 matmul,
                                                 matmul_transposed,
                                                 softmax,
                                                 attention,
                                                 plain_forward<Floats>,
                                                 masked_forward<Floats>,
                                                 convolve,
                                                 mean,
                                                 largest,
                                                 standardize};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
