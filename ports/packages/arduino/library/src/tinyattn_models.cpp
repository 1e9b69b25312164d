// SPDX-License-Identifier: MIT
//
// Whole models of the compiled library, for boards whose core has no archive here. Without C++20, tinyattn.cpp reports what to do.
#if __cplusplus >= 202002L
#include "tinyattn/compiled/models.inc"
#endif
