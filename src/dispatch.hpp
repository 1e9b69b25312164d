// SPDX-License-Identifier: MIT
//
// Which port computes: the only one of the library, or of several the one that it chooses at run
// time.
#pragma once

#include "encoder_operations.hpp"
#include "int8_operations.hpp"
#include "models_operations.hpp"
#include "operations.hpp"

namespace tinyattn::compiled {

// All tables of one port.
struct PortOperations : Operations, EncoderOperations, ModelOperations, Int8Operations {};

// Returns the operations of the port that the environment variable TINYATTN_PORT names, or of the
// best that this processor can run. Only if the library contains several ports.
const PortOperations& chosen_operations() noexcept;

}  // namespace tinyattn::compiled

// A table of the port that computes; `native` is its name in the only port. This is constant there,
// so that a firmware contains no table, only the functions that it calls.
#ifdef TINYATTN_PORTS
#define TINYATTN_OPERATIONS(native) tinyattn::compiled::chosen_operations()
#else
#define TINYATTN_OPERATIONS(native) tinyattn::library::native
#endif
