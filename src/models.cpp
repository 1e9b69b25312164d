// SPDX-License-Identifier: MIT
//
// The functions of tinyattn_models.h: check the arguments, then call the operations of a port. They
// are not in attention.cpp, so that firmware without models need not compile them.
#ifndef TINYATTN_MODELS_UNIT
#define TINYATTN_MODELS_UNIT

#include "dispatch.hpp"
#include "generation.hpp"
#include "models_arguments.hpp"
#include "models_operations.hpp"
#include "operations.hpp"
#include "scratch.hpp"
#include "tinyattn/kernel/sampling.hpp"

#ifndef TINYATTN_PORTS
#include "models_port.hpp"
#endif

#include <cstddef>
#include <cstdint>

using namespace tinyattn::compiled;
namespace library = tinyattn::library;

namespace {

using tinyattn::compiled::is_valid;

inline const ModelOperations& model_operations() noexcept {
  return TINYATTN_OPERATIONS(native_model_operations);
}

bool is_valid(const tinyattn_decoder& d) noexcept {
  if (!has_valid_rest(d) || !are_valid(d.token_embedding)) return false;
  if (d.head.codes != nullptr || (d.head.weight == nullptr && d.head.bias != nullptr)) return false;
  return are_valid_blocks(d);
}

}  // namespace

tinyattn_status tinyattn_activate(tinyattn_activation activation, size_t count, const float* x,
                                  float* out) {
  if (!is_known(activation) || !is_matrix(1, count) || !are_valid(x, out))
    return TINYATTN_BAD_ARGUMENT;
  model_operations().activate(activation, count, x, out);
  return TINYATTN_OK;
}

tinyattn_status tinyattn_normalize(const tinyattn_norm* norm, size_t rows, size_t dim,
                                   const float* x, float* out) {
  if (norm == nullptr || !is_valid(*norm) || !is_matrix(rows, dim) || !are_valid(x, out))
    return TINYATTN_BAD_ARGUMENT;
  model_operations().normalize(*norm, rows, dim, x, out);
  return TINYATTN_OK;
}

tinyattn_status tinyattn_argmax(size_t count, const float* logits, uint16_t* token) {
  if (count == 0 || count > 65536 || !are_valid(logits, token)) return TINYATTN_BAD_ARGUMENT;
  *token = static_cast<uint16_t>(tinyattn::kernel::index_of_largest(logits, count));
  return TINYATTN_OK;
}

tinyattn_status tinyattn_sample(const tinyattn_sampling* sampling, size_t count, float* logits,
                                tinyattn_philox* generator, uint16_t* token) {
  if (!are_valid(sampling, generator) || count == 0 || count > 65536 || !are_valid(logits, token))
    return TINYATTN_BAD_ARGUMENT;
  if (!is_valid(*sampling)) return TINYATTN_BAD_ARGUMENT;
  *token = draw(*sampling, count, logits, *generator, model_operations().sample);
  return TINYATTN_OK;
}

size_t tinyattn_decoder_cache(const tinyattn_decoder* decoder) {
  if (decoder == nullptr || !have_sense(*decoder)) return 0;
  return TINYATTN_DECODER_CACHE(decoder->num_layers, kv_width(*decoder), cached_tokens(*decoder));
}

size_t tinyattn_decoder_scratch(const tinyattn_decoder* decoder) {
  if (decoder == nullptr || !have_sense(*decoder)) return 0;
  return library::decoder_layout<library::Floats, library::FloatCache>(*decoder).size;
}

tinyattn_status tinyattn_decoder_forward(const tinyattn_decoder* decoder, size_t past,
                                         const uint16_t* tokens, size_t num_tokens, float* cache,
                                         float* logits, float* scratch) {
  if (decoder == nullptr || !is_valid(*decoder)) return TINYATTN_BAD_ARGUMENT;
  return decode_checked(*decoder, {past, tokens, num_tokens, cache, logits, scratch},
                        model_operations().decode);
}

tinyattn_status tinyattn_generate(tinyattn_text* text, const tinyattn_generation* options,
                                  const uint16_t* prompt, size_t num_tokens, tinyattn_put put,
                                  void* context, tinyattn_generation_result* result) {
  if (text == nullptr || text->decoder == nullptr || !is_valid(*text->decoder))
    return TINYATTN_BAD_ARGUMENT;
  return generate_checked(*text, text->cache, {options, {prompt, num_tokens}, put, context, result},
                          model_operations().decode, model_operations().sample);
}

#endif
