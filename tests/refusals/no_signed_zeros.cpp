// SPDX-License-Identifier: MIT
//
// A part of -ffast-math, with GCC's macro for it, so that Clang can play it.
//
// expect: ffast-math
// arguments: -D__NO_SIGNED_ZEROS__
#include "tinyattn/tinyattn.hpp"
