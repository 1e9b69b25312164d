// SPDX-License-Identifier: MIT
//
// Sums in any order, numbers that are never NaN: another answer on every target.
//
// expect: ffast-math
// arguments: -ffast-math
#include "tinyattn/tinyattn.hpp"
