// SPDX-License-Identifier: MIT
//
// The C++ headers, for a core that compiles C++20.
#pragma once

#if __cplusplus < 202002L
#error "tinyattn.hpp needs C++20, and this core compiles an older one: include <tinyattn.h>, which does not, or see C++20 in the README"
#else
#include "tinyattn/tinyattn.hpp"
#endif
