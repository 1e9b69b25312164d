// SPDX-License-Identifier: MIT
//
// The operations with int8 weights on the port of this translation unit. int8.cpp has checked the
// arguments.
#pragma once

#include "int8_operations.hpp"
#include "models_port.hpp"
#include "port.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

// After the floats, scratch has rows of integers for the widest input, as many as `take` returns.
static_assert(TINYATTN_LAYER_SCRATCH_INT8(3, 40, 5, 7) ==
                  TINYATTN_LAYER_SCRATCH(40, 5, 7) +
                      TINYATTN_QUERY_ROWS(5) * kernel::integer_row(40) &&
              TINYATTN_LAYER_SCRATCH_INT8(40, 3, 5, 7) ==
                  TINYATTN_LAYER_SCRATCH(3, 5, 7) +
                      TINYATTN_QUERY_ROWS(5) * kernel::integer_row(40) &&
              TINYATTN_DECODER_SCRATCH_INT8(3, 40, 5) ==
                  TINYATTN_DECODER_SCRATCH(3, 40, 5) + kernel::integer_row(40));

inline void project(const tinyattn_linear& linear, const LinearCall& call) noexcept {
  kernel::project<native_port>(call.rows, call.in, call.out_features, {call.x, call.in},
                               Int8::projection(linear), {call.out, call.out_features},
                               Int8::take(call.scratch, TINYATTN_QUERY_ROWS(call.rows)));
  Int8::give_back();
}

static constexpr Int8Operations native_int8_operations = {project, plain_forward<Int8>,
                                                          masked_forward<Int8>, decode<Int8>};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
