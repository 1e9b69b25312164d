// SPDX-License-Identifier: MIT
//
// The functions of an encoder of tinyattn_encoder.h: check the arguments, then call the operations
// of a port. They are a unit of their own, as kernels with one caller take less flash.
#ifndef TINYATTN_ENCODER_UNIT
#define TINYATTN_ENCODER_UNIT

#include "arguments.hpp"
#include "dispatch.hpp"
#include "scratch.hpp"

#include <cstddef>

using namespace tinyattn::compiled;
namespace library = tinyattn::library;

const tinyattn_encoder_kind tinyattn_encoder_floats = {false, is_valid_encoder<library::Floats>,
                                                       on_port<&Operations::encode_floats>};

size_t tinyattn_encoder_scratch(const tinyattn_encoder* encoder) {
  if (!has_valid_sizes(encoder)) return 0;
  const size_t tokens = encoder->context_length;
  return library::floats_of(*encoder, tokens) + integers_of(*encoder, tokens);
}

tinyattn_status tinyattn_encoder_forward(const tinyattn_encoder* encoder, const float* x,
                                         size_t num_tokens, float* out, float* scratch) {
  if (!is_valid(encoder)) return TINYATTN_BAD_ARGUMENT;
  if (num_tokens > encoder->context_length) return TINYATTN_TOO_MANY_TOKENS;
  if (num_tokens == 0) return TINYATTN_OK;
  if (!are_valid(x, out, scratch)) return TINYATTN_BAD_ARGUMENT;
  encoder->kind->encode(*encoder, {num_tokens, x, out, scratch});
  return TINYATTN_OK;
}

#endif
