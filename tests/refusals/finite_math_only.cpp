// SPDX-License-Identifier: MIT
//
// A part of -ffast-math is enough.
//
// expect: ffinite-math-only
// arguments: -ffinite-math-only
#include "tinyattn/tinyattn.hpp"
