// SPDX-License-Identifier: MIT
//
// int8 weights in the compiled library, for boards whose core has no archive here. Without C++20, tinyattn.cpp reports what to do.
#if __cplusplus >= 202002L
#include "tinyattn/compiled/int8.inc"
#endif
