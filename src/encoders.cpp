// SPDX-License-Identifier: MIT
//
// The functions of an encoder of tinyattn_encoder.h: check the arguments, then call the operations
// of a port. They are a unit of their own, as kernels with one caller take less flash.
#ifndef TINYATTN_ENCODER_UNIT
#define TINYATTN_ENCODER_UNIT

#include "dispatch.hpp"
#include "encoder_arguments.hpp"
#include "encoder_operations.hpp"
#include "scratch.hpp"

#ifndef TINYATTN_PORTS
#include "encoder_port.hpp"
#endif

#include <cstddef>

using namespace tinyattn::compiled;
namespace library = tinyattn::library;

namespace {

bool is_valid(const tinyattn_encoder& e) noexcept {
  return has_valid_rest(e) && are_valid_blocks(e);
}

inline const EncoderOperations& encoder_operations() noexcept {
  return TINYATTN_OPERATIONS(native_encoder_operations);
}

}  // namespace

size_t tinyattn_encoder_scratch(const tinyattn_encoder* encoder) {
  if (encoder == nullptr || !have_sense(*encoder)) return 0;
  return library::encoder_layout<library::Floats>(*encoder, encoder->context_length).size;
}

tinyattn_status tinyattn_encoder_forward(const tinyattn_encoder* encoder, const float* x,
                                         size_t num_tokens, float* out, float* scratch) {
  if (encoder == nullptr || !is_valid(*encoder)) return TINYATTN_BAD_ARGUMENT;
  return encode_checked(*encoder, {num_tokens, x, out, scratch}, encoder_operations().encode);
}

#endif
