// SPDX-License-Identifier: MIT
//
// What the sketch Certify prints, for boards whose core has no archive here. Without C++20, tinyattn.cpp reports what to do.
#if __cplusplus >= 202002L
#include "tinyattn/certify/certify.inc"
#endif
