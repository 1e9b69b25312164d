// SPDX-License-Identifier: MIT
//
// Encoders of the compiled library, for boards whose core has no archive here. Without C++20, tinyattn.cpp reports what to do.
#if __cplusplus >= 202002L
#include "tinyattn/compiled/encoders.inc"
#endif
