// SPDX-License-Identifier: MIT
//
// The functions of tinyattn.h and tinyattn_models.h for int8 weights: check the arguments, then
// call the operations of a port. They are not in attention.cpp and models.cpp, so that firmware
// with weights of floats need not compile them.
#ifndef TINYATTN_INT8_UNIT
#define TINYATTN_INT8_UNIT

#include "dispatch.hpp"
#include "generation.hpp"
#include "int8_operations.hpp"
#include "models_arguments.hpp"
#include "operations.hpp"
#include "tinyattn/kernel/int8/quantize.hpp"

#ifndef TINYATTN_PORTS
#include "int8_port.hpp"
#endif

#include <cstddef>
#include <cstdint>

using namespace tinyattn::compiled;
namespace library = tinyattn::library;

namespace {

using tinyattn::compiled::is_valid;
using tinyattn::kernel::most_inputs;

inline const Int8Operations& int8_operations() noexcept {
  return TINYATTN_OPERATIONS(native_int8_operations);
}

// Whether the sizes of a weight are valid. Its rows are padded to multiples of 16 bytes.
constexpr bool is_weight(std::size_t in, std::size_t out) noexcept {
  return in <= most_inputs && is_matrix((in + 15) / 16 * 16, out);
}

// Whether an array, if it is there, begins at a word.
bool is_aligned(const void* array) noexcept {
  return reinterpret_cast<std::uintptr_t>(array) % 4 == 0;
}
bool are_words(const std::uint8_t* codes) noexcept { return codes != nullptr && is_aligned(codes); }

// Whether a linear has codes and scales; and, of a linear that a layer may lack, that it has no
// weight of floats instead.
bool is_int8(const tinyattn_linear& linear, std::size_t in, std::size_t out) noexcept {
  return is_weight(in, out) && are_words(linear.codes) && linear.scales != nullptr;
}
bool is_int8_or_absent(const tinyattn_linear& linear, std::size_t in, std::size_t out) noexcept {
  if (linear.codes != nullptr) return is_int8(linear, in, out);
  return linear.weight == nullptr && is_weight(in, out);
}

bool is_int8(const tinyattn_layer& layer) noexcept {
  const std::size_t in = layer.d_in, out = layer.d_out;
  return has_valid_sizes(layer) && is_int8(layer.query, in, out) && is_int8(layer.key, in, out) &&
         is_int8(layer.value, in, out) && is_int8_or_absent(layer.out_proj, out, out);
}

bool is_int8_block(const auto& d, const tinyattn_block& block) noexcept {
  const std::size_t d_model = d.d_model, d_hidden = d.d_hidden, of_keys = kv_width(d);
  return is_valid(block.attention_norm) && is_valid(block.feed_forward_norm) &&
         is_int8(block.query, d_model, d_model) && is_int8(block.key, d_model, of_keys) &&
         is_int8(block.value, d_model, of_keys) &&
         is_int8_or_absent(block.out_proj, d_model, d_model) &&
         is_int8(block.up, d_model, d_hidden) && is_int8_or_absent(block.gate, d_model, d_hidden) &&
         is_int8(block.down, d_hidden, d_model);
}

bool are_int8_blocks(const auto& model) noexcept {
  for (const tinyattn_block* block = model.blocks; block != model.blocks + model.num_layers;
       ++block)
    if (!is_int8_block(model, *block)) return false;
  return true;
}

bool has_int8_sizes(const auto& d) noexcept {
  return have_sense(d) && d.d_model <= most_inputs && d.d_hidden <= most_inputs;
}
bool has_int8_cache_sizes(const tinyattn_decoder& d) noexcept {
  return has_int8_sizes(d) && cached_tokens(d) <= most_inputs;
}

bool is_int8(const tinyattn_decoder& d) noexcept {
  if (!has_valid_rest(d) || !are_words(d.token_codes) || !are_valid(d.token_scales)) return false;
  if (!is_weight(d.d_model, d.vocabulary)) return false;
  if (!is_int8_or_absent(d.head, d.d_model, d.vocabulary)) return false;
  if (d.head.codes == nullptr && d.head.bias != nullptr) return false;
  return are_int8_blocks(d);
}

bool is_int8(const tinyattn_encoder& e) noexcept {
  return has_valid_rest(e) && has_int8_sizes(e) && are_int8_blocks(e);
}

template <auto operation>
tinyattn_status forward_int8(const tinyattn_layer* layer, const AttentionCall& call) noexcept {
  if (layer == nullptr || !is_int8(*layer)) return TINYATTN_BAD_ARGUMENT;
  return forward_checked(*layer, call, int8_operations().*operation);
}

}  // namespace

size_t tinyattn_layer_scratch_int8(size_t d_in, size_t d_out, size_t tokens, size_t source_tokens) {
  if (!has_scratch(d_out, tokens, source_tokens)) return 0;
  if (d_in > most_inputs || d_out > most_inputs) return 0;
  return library::layer_layout<library::Int8>(d_in, d_out, d_out, tokens, source_tokens).size;
}

tinyattn_status tinyattn_forward_int8(const tinyattn_layer* layer, size_t tokens, const float* x,
                                      float* out, float* scratch) {
  return forward_int8<&Int8Operations::forward>(layer,
                                                {tokens, tokens, x, x, x, nullptr, out, scratch});
}

tinyattn_status tinyattn_cross_forward_int8(const tinyattn_layer* layer, size_t tokens,
                                            size_t source_tokens, const float* query_input,
                                            const float* key_input, const float* value_input,
                                            const tinyattn_mask* mask, float* out, float* scratch) {
  return forward_int8<&Int8Operations::masked_forward>(
      layer, {tokens, source_tokens, query_input, key_input, value_input, mask, out, scratch});
}

tinyattn_status tinyattn_linear_forward_int8(const tinyattn_linear* linear, size_t rows, size_t in,
                                             size_t out_features, const float* x, float* out,
                                             float* scratch) {
  if (linear == nullptr || !is_int8(*linear, in, out_features) || !is_matrix(rows, in) ||
      !is_matrix(rows, out_features) || !are_valid(x, out, scratch) || out == x)
    return TINYATTN_BAD_ARGUMENT;
  int8_operations().linear(*linear, {rows, in, out_features, x, out, scratch});
  return TINYATTN_OK;
}

tinyattn_status tinyattn_conv1d_int8(const tinyattn_convolution* convolution, size_t tokens,
                                     const float* x, float* out, float* scratch) {
  if (convolution == nullptr || tokens_after(*convolution, tokens) == 0 ||
      !is_int8(convolution->linear, convolution->kernel * convolution->in, convolution->out) ||
      !are_valid(x, out, scratch) || out == x)
    return TINYATTN_BAD_ARGUMENT;
  int8_operations().convolve(*convolution, {tokens, x, out, scratch});
  return TINYATTN_OK;
}

size_t tinyattn_encoder_scratch_int8(const tinyattn_encoder* encoder) {
  if (encoder == nullptr || !has_int8_sizes(*encoder)) return 0;
  return library::encoder_layout<library::Int8>(*encoder, encoder->context_length).size;
}

tinyattn_status tinyattn_encoder_forward_int8(const tinyattn_encoder* encoder, const float* x,
                                              size_t num_tokens, float* out, float* scratch) {
  if (encoder == nullptr || !is_int8(*encoder)) return TINYATTN_BAD_ARGUMENT;
  return encode_checked(*encoder, {num_tokens, x, out, scratch}, int8_operations().encode);
}

size_t tinyattn_decoder_scratch_int8(const tinyattn_decoder* decoder) {
  if (decoder == nullptr || !has_int8_sizes(*decoder)) return 0;
  return library::decoder_layout<library::Int8, library::FloatCache>(*decoder).size;
}

size_t tinyattn_decoder_cache_int8(const tinyattn_decoder* decoder) {
  if (decoder == nullptr || !has_int8_cache_sizes(*decoder)) return 0;
  return TINYATTN_DECODER_CACHE_INT8(decoder->num_layers, decoder->num_kv_heads,
                                     decoder->d_model / decoder->num_heads,
                                     cached_tokens(*decoder));
}

size_t tinyattn_decoder_scratch_int8_cache(const tinyattn_decoder* decoder) {
  if (decoder == nullptr || !has_int8_cache_sizes(*decoder)) return 0;
  return library::decoder_layout<library::Int8, library::Int8Cache>(*decoder).size;
}

tinyattn_status tinyattn_decoder_forward_int8(const tinyattn_decoder* decoder, size_t past,
                                              const uint16_t* tokens, size_t num_tokens,
                                              float* cache, float* logits, float* scratch) {
  if (decoder == nullptr || !is_int8(*decoder)) return TINYATTN_BAD_ARGUMENT;
  return decode_checked(*decoder, {past, tokens, num_tokens, cache, logits, scratch},
                        int8_operations().decode);
}

tinyattn_status tinyattn_decoder_forward_int8_cache(const tinyattn_decoder* decoder, size_t past,
                                                    const uint16_t* tokens, size_t num_tokens,
                                                    uint32_t* cache, float* logits,
                                                    float* scratch) {
  if (decoder == nullptr || !is_int8(*decoder) || !has_int8_cache_sizes(*decoder) ||
      !is_aligned(cache))
    return TINYATTN_BAD_ARGUMENT;
  return decode_checked(*decoder, {past, tokens, num_tokens, cache, logits, scratch},
                        int8_operations().decode_int8_cache);
}

tinyattn_status tinyattn_generate_int8(tinyattn_text* text, const tinyattn_generation* options,
                                       const uint16_t* prompt, size_t num_tokens, tinyattn_put put,
                                       void* context, tinyattn_generation_result* result) {
  if (text == nullptr || text->decoder == nullptr || !is_int8(*text->decoder))
    return TINYATTN_BAD_ARGUMENT;
  const Sample sample = TINYATTN_OPERATIONS(native_model_operations).sample;
  return generate_checked(*text, text->cache, {options, {prompt, num_tokens}, put, context, result},
                          int8_operations().decode, sample);
}

tinyattn_status tinyattn_generate_int8_cache(tinyattn_text* text,
                                             const tinyattn_generation* options,
                                             const uint16_t* prompt, size_t num_tokens,
                                             tinyattn_put put, void* context,
                                             tinyattn_generation_result* result) {
  if (text == nullptr || text->decoder == nullptr || !is_int8(*text->decoder) ||
      !has_int8_cache_sizes(*text->decoder) || !is_aligned(text->int8_cache))
    return TINYATTN_BAD_ARGUMENT;
  const Sample sample = TINYATTN_OPERATIONS(native_model_operations).sample;
  return generate_checked(*text, text->int8_cache,
                          {options, {prompt, num_tokens}, put, context, result},
                          int8_operations().decode_int8_cache, sample);
}

#endif
