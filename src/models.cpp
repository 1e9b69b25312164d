// SPDX-License-Identifier: MIT
//
// The functions of tinyattn_models.h: check the arguments, then call the operations of a port. They
// are not in attention.cpp, so that firmware without models need not compile them.
#ifndef TINYATTN_MODELS_UNIT
#define TINYATTN_MODELS_UNIT

#include "arguments.hpp"
#include "dispatch.hpp"
#include "generation.hpp"
#include "scratch.hpp"
#include "tinyattn/kernel/sampling.hpp"

#include <cstddef>
#include <cstdint>

using namespace tinyattn::compiled;
namespace library = tinyattn::library;

const tinyattn_decoder_kind tinyattn_decoder_floats = {
    false, false, is_valid_decoder<library::Floats>, on_port<&Operations::decode_floats>};

tinyattn_status tinyattn_activate(tinyattn_activation activation, size_t count, const float* x,
                                  float* out) {
  if (!is_known(activation) || !is_matrix(1, count) || !are_valid(x, out))
    return TINYATTN_BAD_ARGUMENT;
  on_port<&Operations::activate>(activation, count, x, out);
  return TINYATTN_OK;
}

tinyattn_status tinyattn_normalize(const tinyattn_norm* norm, size_t rows, size_t dim,
                                   const float* x, float* out) {
  if (norm == nullptr || !is_valid(*norm) || !is_matrix(rows, dim) || !are_valid(x, out))
    return TINYATTN_BAD_ARGUMENT;
  on_port<&Operations::normalize>(*norm, rows, dim, x, out);
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
  *token = draw(*sampling, count, logits, *generator);
  return TINYATTN_OK;
}

size_t tinyattn_decoder_cache(const tinyattn_decoder* decoder) {
  if (!has_valid_sizes(decoder)) return 0;
  return decoder->kind->has_int8_cache ? library::Int8Cache::size(*decoder, decoder->num_layers)
                                       : library::FloatCache::size(*decoder, decoder->num_layers);
}

size_t tinyattn_decoder_scratch(const tinyattn_decoder* decoder) {
  if (!has_valid_sizes(decoder)) return 0;
  if (!decoder->kind->has_int8_cache)
    return library::floats_of<library::FloatCache>(*decoder) + integers_of(*decoder, 1);
  return library::floats_of<library::Int8Cache>(*decoder) +
         TINYATTN_CACHE_INTEGERS(larger(decoder->d_model, decoder->d_hidden),
                                 library::head_dim_of(*decoder), cached_tokens(*decoder));
}

tinyattn_status tinyattn_decoder_forward(const tinyattn_decoder* decoder, size_t past,
                                         const uint16_t* tokens, size_t num_tokens, void* cache,
                                         float* logits, float* scratch) {
  if (!is_valid(decoder)) return TINYATTN_BAD_ARGUMENT;
  return decode_checked(*decoder, {past, tokens, num_tokens, cache, logits, scratch});
}

tinyattn_status tinyattn_generate(tinyattn_text* text, const tinyattn_generation* options,
                                  const uint16_t* prompt, size_t num_tokens, tinyattn_put put,
                                  void* context, tinyattn_generation_result* result) {
  const GenerationCall call{options, {prompt, num_tokens}, put, context, result};
  if (text == nullptr || !is_valid(text->decoder) || !is_valid(*text, call))
    return TINYATTN_BAD_ARGUMENT;
  generate(*text, call);
  return TINYATTN_OK;
}

#endif
