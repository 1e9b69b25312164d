// SPDX-License-Identifier: MIT
//
// The operations with int8 weights on the port of this translation unit. int8.cpp has checked the
// arguments.
#pragma once

#include "encoder_port.hpp"
#include "int8_operations.hpp"
#include "models_port.hpp"
#include "port.hpp"
#include "tinyattn/kernel/int8/cache.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

inline void project(const tinyattn_linear& linear, const LinearCall& call) noexcept {
  kernel::project<native_port>(call.rows, call.in, call.out_features, {call.x, call.in},
                               Int8::projection(linear), {call.out, call.out_features},
                               Int8::take(call.scratch, TINYATTN_QUERY_ROWS(call.rows)));
  Int8::give_back();
}

// In scratch a row of floats with padding comes before those of integers.
inline void convolve_int8(const tinyattn_convolution& convolution,
                          const ConvolutionCall& call) noexcept {
  const kernel::Convolution shape = shape_of(convolution, call.tokens);
  kernel::convolve<native_port>(
      shape, call.x, Int8::projection(convolution.linear), {call.out, convolution.out},
      Int8::take(call.scratch + shape.width(), TINYATTN_QUERY_ROWS(shape.rows())), call.scratch);
  Int8::give_back();
}

static constexpr Int8Operations native_int8_operations = {
    project,      plain_forward<Int8>,     masked_forward<Int8>, encode<Int8>,
    decode<Int8>, decode<Int8, Int8Cache>, convolve_int8};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
