// SPDX-License-Identifier: MIT
//
// int8 weights: the kinds that layers, encoders and decoders name. A unit of its own, so that
// firmware with weights of floats need not compile it.
#ifndef TINYATTN_INT8_UNIT
#define TINYATTN_INT8_UNIT

#include "arguments.hpp"
#include "dispatch.hpp"
#include "weights.hpp"

using namespace tinyattn::compiled;
using tinyattn::library::Int8;

const tinyattn_layer_kind tinyattn_layer_int8 = {true, is_valid_layer<Int8>,
                                                 on_port<&Operations::project_int8>};

const tinyattn_linear_kind tinyattn_linear_int8 = {is_valid_linear<Int8>,
                                                   on_port<&Operations::project_int8>};

const tinyattn_convolution_kind tinyattn_convolution_int8 = {is_valid_convolution<Int8>,
                                                             on_port<&Operations::convolve_int8>};

const tinyattn_encoder_kind tinyattn_encoder_int8 = {true, is_valid_encoder<Int8>,
                                                     on_port<&Operations::encode_int8>};

const tinyattn_decoder_kind tinyattn_decoder_int8 = {true, false, is_valid_decoder<Int8>,
                                                     on_port<&Operations::decode_int8>};

const tinyattn_decoder_kind tinyattn_decoder_int8_cache = {true, true, is_valid_decoder<Int8>,
                                                           on_port<&Operations::decode_int8_cache>};

#endif
