// SPDX-License-Identifier: MIT
//
// What the library computes: calls whose arguments are checked, and the functions of a port for
// them, as a table. These are plain data, since translation units for different instruction sets
// share their types. And the kinds of weights, which the structs of C name: tables, so that a
// linker takes the code of the kind that a program names, and of no other.
#pragma once

#include "tinyattn/tinyattn_models.h"
#include "tinyattn/tinyattn_operations.h"

#include <cstddef>
#include <cstdint>

namespace tinyattn::compiled {

// --- Calls ---

struct ProductCall {
  std::size_t rows, inner, cols;
  const float *a, *b;
  float* out;
};

// A call of x . weight + bias.
struct LinearCall {
  std::size_t rows, in, out_features;
  const float* x;
  float* out;
};

// A call of attention, or of a layer.
struct AttentionCall {
  std::size_t tokens, source_tokens;
  const float *query, *key, *value;
  const tinyattn_mask* mask;  // nullptr for none
  float *out, *scratch;
};

// A call of a convolution or an encoder.
struct FeaturesCall {
  std::size_t num_tokens;
  const float* x;
  float *out, *scratch;
};

struct DecoderCall {
  std::size_t past;
  const std::uint16_t* tokens;
  std::size_t num_tokens;
  void* cache;
  float *logits, *scratch;
};

struct ElementsCall {
  const tinyattn_walk* walk;
  std::size_t operands;
  const float* terms[3];
  float* out;
};

// --- Functions of elements, and reductions ---

using Compute = void (*)(const ElementsCall&) noexcept;
template <class Result>
using Reduce = void (*)(const tinyattn_walk&, const float* x, Result* out) noexcept;

// --- Kinds of weights ---

// `integers` has room for inputs as integers, TINYATTN_INTEGERS(rows, in), if weights are integers.
using Project = void (*)(const tinyattn_linear&, const LinearCall&, float* integers,
                         std::size_t rows) noexcept;
using Convolve = void (*)(const tinyattn_convolution&, const FeaturesCall&) noexcept;
using Encode = void (*)(const tinyattn_encoder&, const FeaturesCall&) noexcept;
using Decode = void (*)(const tinyattn_decoder&, const DecoderCall&) noexcept;

}  // namespace tinyattn::compiled

struct tinyattn_function {
  std::size_t operands;
  tinyattn::compiled::Compute compute;
};

struct tinyattn_reduction {
  tinyattn::compiled::Reduce<float> reduce;
};

struct tinyattn_index_reduction {
  tinyattn::compiled::Reduce<std::uint16_t> reduce;
};

struct tinyattn_layer_kind {
  bool has_integers;  // in scratch
  bool (*is_valid)(const tinyattn_layer&) noexcept;
  tinyattn::compiled::Project project;
};

struct tinyattn_linear_kind {
  bool (*is_valid)(const tinyattn_linear&, std::size_t in, std::size_t out,
                   const float* scratch) noexcept;
  tinyattn::compiled::Project project;
};

struct tinyattn_convolution_kind {
  bool (*is_valid)(const tinyattn_convolution&, const float* scratch) noexcept;
  tinyattn::compiled::Convolve convolve;
};

struct tinyattn_encoder_kind {
  bool has_integers;
  bool (*is_valid)(const tinyattn_encoder&) noexcept;
  tinyattn::compiled::Encode encode;
};

struct tinyattn_decoder_kind {
  bool has_integers, has_int8_cache;
  bool (*is_valid)(const tinyattn_decoder&) noexcept;
  tinyattn::compiled::Decode decode;
};

namespace tinyattn::compiled {

// --- The operations of a port ---

// A table of its own, so that firmware without them need not compile it.
struct Primitives {
  Compute copy;
  Reduce<std::uint16_t> argmax, argmin;
#define TINYATTN_FUNCTION_OF(name, operands) Compute function_##name;
#define TINYATTN_REDUCTION_OF(name) Reduce<float> reduction_##name;
  TINYATTN_FUNCTIONS(TINYATTN_FUNCTION_OF)
  TINYATTN_REDUCTIONS(TINYATTN_REDUCTION_OF)
#undef TINYATTN_REDUCTION_OF
#undef TINYATTN_FUNCTION_OF
};

struct Operations {
  const char* port;
  unsigned needs;  // features of the processor, as bits: features.hpp
  void (*matmul)(const ProductCall&) noexcept;
  void (*matmul_transposed)(const ProductCall&) noexcept;
  void (*softmax)(std::size_t rows, std::size_t cols, float scale, const float* m,
                  float* out) noexcept;
  void (*attention)(std::size_t key_dim, std::size_t value_dim, const AttentionCall&) noexcept;
  void (*forward)(const tinyattn_layer&, const AttentionCall&) noexcept;  // without a mask
  void (*masked_forward)(const tinyattn_layer&, const AttentionCall&) noexcept;
  void (*mean)(std::size_t tokens, std::size_t features, const float* x, float* out) noexcept;
  void (*largest)(std::size_t tokens, std::size_t features, const float* x, float* out) noexcept;
  void (*standardize)(std::size_t rows, std::size_t features, const float* x, const float* mean,
                      const float* inverse_deviation, float* out) noexcept;
  void (*activate)(tinyattn_activation, std::size_t count, const float* x, float* out) noexcept;
  void (*normalize)(const tinyattn_norm&, std::size_t rows, std::size_t dim, const float* x,
                    float* out) noexcept;
  std::uint16_t (*sample)(const tinyattn_sampling&, std::size_t count, float* logits,
                          float fraction) noexcept;
  Project project_floats, project_int8;
  Convolve convolve_floats, convolve_int8;
  Encode encode_floats, encode_int8;
  Decode decode_floats, decode_int8, decode_int8_cache;
  const Primitives* primitives = nullptr;  // if there are several ports

  operator const Primitives&() const noexcept { return *primitives; }
};

// --- Sizes that follow from others ---

// The number of query heads that share a key head. Members that count key heads may be 0.
constexpr std::size_t group_of(const auto& sizes) noexcept {
  return sizes.num_kv_heads == 0 ? 1 : sizes.num_heads / sizes.num_kv_heads;
}

// The number of tokens whose keys and values a decoder keeps.
constexpr std::size_t cached_tokens(const tinyattn_decoder& d) noexcept {
  return d.window == 0 ? d.context_length : d.window;
}

}  // namespace tinyattn::compiled
