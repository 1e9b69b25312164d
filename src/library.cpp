// SPDX-License-Identifier: MIT
//
// The whole library in one unit, for a build by hand: a linker with --gc-sections leaves out of it
// what a program does not call. Its functions give way to those of the units that it includes,
// if these are compiled too.
#if !defined(TINYATTN_API) && defined(__GNUC__) && !defined(_WIN32)
#define TINYATTN_API __attribute__((visibility("default"), warn_unused_result, weak))
#define TINYATTN_TABLE __attribute__((visibility("default"), weak))
#endif

#include "attention.cpp"   // NOLINT(bugprone-suspicious-include)
#include "encoders.cpp"    // NOLINT(bugprone-suspicious-include)
#include "int8.cpp"        // NOLINT(bugprone-suspicious-include)
#include "models.cpp"      // NOLINT(bugprone-suspicious-include)
#include "primitives.cpp"  // NOLINT(bugprone-suspicious-include)
