// SPDX-License-Identifier: MIT
//
// Functions of elements, and reductions, of the compiled library, for boards whose core has no archive here. Without C++20, tinyattn.cpp
// reports what to do.
#if __cplusplus >= 202002L
#include "tinyattn/compiled/primitives.inc"
#endif
