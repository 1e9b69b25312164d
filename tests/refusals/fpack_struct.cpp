// SPDX-License-Identifier: MIT
//
// Members without alignment, to which no reference can be bound.
//
// expect: -fpack-struct
// arguments: -fpack-struct
#include "tinyattn/tinyattn.hpp"
