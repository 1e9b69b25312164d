// SPDX-License-Identifier: MIT
//
// The functions of tinyattn_models.h: check the arguments, then call the operations of a port. They
// are not in library.cpp, so that firmware without models need not compile them.
#include "arguments.hpp"
#include "models_operations.hpp"
#include "operations.hpp"
#include "tinyattn/kernel/activation.hpp"
#include "tinyattn/kernel/embedding.hpp"
#include "tinyattn/kernel/sampling.hpp"
#include "tinyattn/random.hpp"

#ifndef TINYATTN_PORTS
#include "models_port.hpp"
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

using namespace tinyattn::compiled;

namespace {

#ifdef TINYATTN_PORTS
inline const ModelOperations& model_operations() noexcept { return *chosen_operations().models; }
#else
constexpr const ModelOperations& model_operations() noexcept {
  return tinyattn::library::native_model_operations;
}
#endif

// A maximum that is larger than any array of a decoder in practice, and so small that the sizes of
// these arrays do not wrap.
constexpr std::size_t most = most_floats / 8;

// Returns the number in an enumeration, read as an integer: a caller in C may have stored one that
// is no enumerator, which C++ may not read as the enumeration.
template <class Enumeration>
unsigned number_of(const Enumeration& value) noexcept {
  std::underlying_type_t<Enumeration> number;
  __builtin_memcpy(&number, &value, sizeof(number));
  return static_cast<unsigned>(number);
}

bool is_known(const tinyattn_activation& activation) noexcept {
  return number_of(activation) < tinyattn::kernel::num_activations;
}
bool is_known(const tinyattn_rotary& rotary) noexcept {
  return number_of(rotary) <= TINYATTN_HALVES;
}

bool is_valid(const tinyattn_norm& norm) noexcept {
  return norm.weight != nullptr && norm.epsilon >= 0.0f;
}

bool is_valid(const tinyattn_block& block) noexcept {
  return is_valid(block.attention_norm) && is_valid(block.feed_forward_norm) &&
         are_valid(block.query.weight, block.key.weight, block.value.weight, block.up.weight,
                   block.down.weight);
}

bool have_sense(const tinyattn_decoder& d) noexcept {
  if (d.num_heads == 0 || d.num_kv_heads == 0 || d.num_heads % d.num_kv_heads != 0) return false;
  if (d.d_model == 0 || d.d_model % d.num_heads != 0 || d.vocabulary > 65536) return false;
  if (!is_matrix(d.vocabulary, d.d_model, most) || !is_matrix(d.d_model, d.d_hidden, most))
    return false;
  if (!is_matrix(d.context_length, d.d_model, most) || d.num_layers == 0) return false;
  return d.num_layers <= most / (d.context_length * d.d_model + TINYATTN_LANES) &&
         d.context_length < most / 2 && d.d_hidden < most / 8;
}

bool is_valid(const tinyattn_decoder& d) noexcept {
  if (!have_sense(d) || !are_valid(d.token_embedding, d.blocks)) return false;
  if (!is_known(d.activation) || !is_known(d.rotary)) return false;
  const bool rotates = d.rotary != TINYATTN_NO_ROTARY;
  if (rotates && (d.d_model / d.num_heads % 2 != 0 || !are_valid(d.cosines, d.sines))) return false;
  if (d.final_norm.weight != nullptr && !is_valid(d.final_norm)) return false;
  if (d.head.weight == nullptr && d.head.bias != nullptr) return false;
  for (std::size_t i = 0; i < d.num_layers; ++i)
    if (!is_valid(d.blocks[i])) return false;
  return true;
}

std::size_t kv_width(const tinyattn_decoder& d) noexcept {
  return d.d_model / d.num_heads * d.num_kv_heads;
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
  if (!(sampling->temperature >= 0.0f) || sampling->top_p != sampling->top_p)
    return TINYATTN_BAD_ARGUMENT;
  if (sampling->temperature == 0.0f) return tinyattn_argmax(count, logits, token);
  tinyattn::Philox4x32 philox(generator->seed, generator->stream++);
  *token =
      model_operations().sample(*sampling, count, logits, tinyattn::uniform(philox, 0.0f, 1.0f));
  return TINYATTN_OK;
}

size_t tinyattn_decoder_cache(const tinyattn_decoder* decoder) {
  if (decoder == nullptr || !have_sense(*decoder)) return 0;
  return TINYATTN_DECODER_CACHE(decoder->num_layers, kv_width(*decoder), decoder->context_length);
}

size_t tinyattn_decoder_scratch(const tinyattn_decoder* decoder) {
  if (decoder == nullptr || !have_sense(*decoder)) return 0;
  return TINYATTN_DECODER_SCRATCH(decoder->d_model, decoder->d_hidden, decoder->context_length);
}

tinyattn_status tinyattn_decoder_forward(const tinyattn_decoder* decoder, size_t past,
                                         const uint16_t* tokens, size_t num_tokens, float* cache,
                                         float* logits, float* scratch) {
  if (decoder == nullptr || !is_valid(*decoder)) return TINYATTN_BAD_ARGUMENT;
  if (past > decoder->context_length || num_tokens > decoder->context_length - past)
    return TINYATTN_TOO_MANY_TOKENS;
  if (num_tokens == 0) return TINYATTN_OK;
  if (!are_valid(tokens) || !are_valid(cache, logits, scratch)) return TINYATTN_BAD_ARGUMENT;
  if (!tinyattn::kernel::are_known(tokens, num_tokens, decoder->vocabulary))
    return TINYATTN_UNKNOWN_TOKEN;
  model_operations().decode(*decoder, {past, tokens, num_tokens, cache, logits, scratch});
  return TINYATTN_OK;
}
