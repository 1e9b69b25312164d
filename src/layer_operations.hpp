// SPDX-License-Identifier: MIT
//
// The operations of tinyattn.h on the port of this translation unit: kernels for sizes that are
// known at run time.
#pragma once

#include "operations.hpp"
#include "scratch.hpp"
#include "tinyattn/kernel/convolution.hpp"
#include "tinyattn/kernel/layer.hpp"
#include "tinyattn/kernel/pooling.hpp"
#include "tinyattn/port/sqrt_in_integers.hpp"
#include "weights.hpp"

#include <cstddef>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

using port::detail::inverse_sqrt_in_integers;

// --- Products and rows ---

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

inline void mean(std::size_t tokens, std::size_t features, const float* x, float* out) noexcept {
  kernel::reduce_rows<native_port, kernel::Mean>(tokens, features, {x, features}, out);
}

inline void largest(std::size_t tokens, std::size_t features, const float* x, float* out) noexcept {
  kernel::reduce_rows<native_port, kernel::Maximum>(tokens, features, {x, features}, out);
}

inline void standardize(std::size_t rows, std::size_t features, const float* x, const float* mean,
                        const float* inverse_deviation, float* out) noexcept {
  for (std::size_t i = 0; i < rows; ++i)
    kernel::standardize_row<native_port>(x + i * features, mean, inverse_deviation,
                                         out + i * features, features);
}

// x . weight + bias.
template <class Weights>
inline void project(const tinyattn_linear& linear, const LinearCall& call, float* integers,
                    std::size_t rows) noexcept {
  kernel::project<native_port>(call.rows, call.in, call.out_features, {call.x, call.in},
                               Weights::projection(linear), {call.out, call.out_features},
                               Weights::take(integers, 0, rows));
  Weights::give_back();
}

// --- Attention ---

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

// Rotary positions of a table.
TINYATTN_ALWAYS_INLINE kernel::Rotation rotation_of(const auto& at, std::size_t head_dim) noexcept {
  return kernel::rotation_of(at.cosines, at.sines, at.rotary == TINYATTN_INTERLEAVED, head_dim);
}

// The same, or none, kept as a pointer, so that a call costs little flash.
struct LayerRotation {
  const tinyattn_layer* layer;
};
[[gnu::noinline]] inline void rotate_rows(const tinyattn_layer& layer, std::size_t rows,
                                          std::size_t columns, std::size_t position,
                                          float* x) noexcept {
  if (layer.rotary == TINYATTN_NO_ROTARY) return;
  const std::size_t head_dim = layer.d_out / layer.num_heads;
  kernel::rotate<native_port>(rotation_of(layer, head_dim), rows, columns / head_dim, head_dim,
                              position, {x, columns});
}
// Rows of queries and keys have no gaps between them in the scratch.
template <class Port>
TINYATTN_ALWAYS_INLINE void rotate(LayerRotation rotation, std::size_t rows, std::size_t,
                                   std::size_t, std::size_t position, kernel::Output x) noexcept {
  rotate_rows(*rotation.layer, rows, x.stride, position, x.data);
}

// Returns the number of queries in a block, at most those that there is scratch for.
inline std::size_t block_rows(std::size_t tokens) noexcept {
  constexpr std::size_t most = native_port::block_rows;
  return most <= TINYATTN_BLOCK_ROWS(most) ? most
                                           : TINYATTN_FEWER(TINYATTN_BLOCK_ROWS(tokens), most);
}

// Divides the scratch of a layer.
TINYATTN_ALWAYS_INLINE auto layer_parts(float* scratch, std::size_t width, std::size_t kv_width,
                                        std::size_t tokens, std::size_t source_tokens,
                                        auto integers) noexcept {
  return kernel::parts_of(scratch, width, kv_width, source_tokens, block_rows(tokens),
                          TINYATTN_FEWER(tokens, native_port::query_rows), integers);
}

// The weight of a projection of a layer, of any kind. So a layer is one function for all kinds of
// weights: a firmware that calls it contains the kind that it names.
struct AnyWeight {
  const tinyattn_linear* linear;

  TINYATTN_ALWAYS_INLINE friend bool is_null(const AnyWeight& weight) noexcept {
    return !has_weight(*weight.linear);
  }
};
struct AnyKind {
  using Weight = AnyWeight;
  TINYATTN_ALWAYS_INLINE static kernel::Projection<AnyWeight> projection(
      const tinyattn_linear& linear) noexcept {
    return {{&linear}, nullptr};
  }
};
// Room in scratch for integers, TINYATTN_INTEGERS(rows, inputs), if the layer's kind has some.
struct AnyIntegers {
  const tinyattn_layer* layer;
  float* first;
  std::size_t rows;
};
template <class Port, kernel::Shape = kernel::Shape{}>
TINYATTN_ALWAYS_INLINE void project(std::size_t rows, std::size_t in, std::size_t cols,
                                    kernel::Dense x, const kernel::Projection<AnyWeight>& to,
                                    kernel::Output out, const AnyIntegers& integers) noexcept {
  integers.layer->kind->project(*to.weight.linear, {rows, in, cols, x.data, out.data},
                                integers.first, integers.rows);
}

// Returns the attention of a layer, or of a block of a model. `heads` has their numbers.
template <class Weights, class Rotations>
TINYATTN_ALWAYS_INLINE kernel::GroupedLayer<typename Weights::Weight, Rotations> attention_of(
    std::size_t d_in, std::size_t d_out, const auto& heads, const auto& linears,
    const Rotations& rotation) noexcept {
  const std::size_t head_dim = d_out / heads.num_heads;
  return {{d_in, d_out, heads.num_heads, head_dim, inverse_sqrt_in_integers(head_dim),
           Weights::projection(linears.query), Weights::projection(linears.key),
           Weights::projection(linears.value), Weights::projection(linears.out_proj)},
          group_of(heads),
          rotation};
}

TINYATTN_ALWAYS_INLINE void forward(const tinyattn_layer& layer, const AttentionCall& call,
                                    const kernel::Mask& mask) noexcept {
  const std::size_t d_in = layer.d_in, d_out = layer.d_out;
  const std::size_t tokens = call.tokens, sources = call.source_tokens;
  auto parts = layer_parts(call.scratch, d_out, d_out / group_of(layer), tokens, sources,
                           AnyIntegers{&layer, nullptr, tokens});
  // The block is the last part of floats, with no more rows than there are tokens.
  parts.integers.first = parts.block.at(TINYATTN_FEWER(tokens, parts.block_rows), 0);
  kernel::forward_inline<native_port>(
      attention_of<AnyKind>(d_in, d_out, layer, layer, LayerRotation{&layer}), parts,
      kernel::BatchElement{0,
                           tokens,
                           sources,
                           {call.query, d_in},
                           {call.key, d_in},
                           {call.value, d_in},
                           {call.out, d_out}},
      layer.causal ? kernel::and_causal(mask) : mask, kernel::IgnoreWeights{});
}

// Two functions, so that a firmware without masks contains no code for them.
inline void plain_forward(const tinyattn_layer& layer, const AttentionCall& call) noexcept {
  forward(layer, call, kernel::no_mask(call.source_tokens));
}
inline void masked_forward(const tinyattn_layer& layer, const AttentionCall& call) noexcept {
  forward(layer, call, mask_of(call));
}

// --- Convolutions ---

// In scratch a row of floats with padding comes before those of integers.
template <class Weights>
inline void convolve(const tinyattn_convolution& c, const FeaturesCall& call) noexcept {
  const kernel::Convolution shape{call.num_tokens, c.in, c.out, c.kernel, c.stride, c.padding};
  kernel::convolve<native_port>(shape, call.x, Weights::projection(c.linear), {call.out, c.out},
                                Weights::take(call.scratch, shape.width(), shape.rows()),
                                call.scratch);
  Weights::give_back();
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
