// SPDX-License-Identifier: MIT
//
// The port of this build, which lies in another folder than these headers. In tinyattn-single.hpp
// it comes before this text.
#pragma once

#if !defined(TINYATTN_PORT_NAMESPACE) && !__has_include("tinyattn/port/native.hpp")
#error "tinyattn needs the include path of its ports, too: compile with -I.../ports/simd"
#endif

#include "tinyattn/port/native.hpp"
