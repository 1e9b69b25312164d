// SPDX-License-Identifier: MIT
//
// The compiled library, for boards whose core has no archive here.
#if __cplusplus < 202002L
#error "tinyattn has no archive for this core, and its sources need C++20, which the core does not compile: see C++20 in the README"
#else
#include "tinyattn/compiled/attention.inc"
#endif
