// SPDX-License-Identifier: MIT
//
// The operations with int8 weights, as a table of functions. It is separate from the other tables,
// so that a firmware with weights of floats contains none of them.
#pragma once

#include "encoder_operations.hpp"
#include "models_operations.hpp"
#include "operations.hpp"

#include <cstddef>

namespace tinyattn::compiled {

// A call of x . weight + bias.
struct LinearCall {
  std::size_t rows, in, out_features;
  const float* x;
  float *out, *scratch;
};

struct Int8Operations {
  void (*linear)(const tinyattn_linear&, const LinearCall&) noexcept;
  void (*forward)(const tinyattn_layer&, const AttentionCall&) noexcept;  // without a mask
  void (*masked_forward)(const tinyattn_layer&, const AttentionCall&) noexcept;
  Encode encode;
  Decode decode, decode_int8_cache;
  void (*convolve)(const tinyattn_convolution&, const ConvolutionCall&) noexcept;
};

}  // namespace tinyattn::compiled
