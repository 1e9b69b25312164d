/* SPDX-License-Identifier: MIT
 *
 * The compiled library for a sketch, in C and in any C++: archives for the cores in the README lie next to this file; for other cores
 * tinyattn.cpp is compiled. The C++20 headers are in tinyattn.hpp. */
#ifndef TINYATTN_ARDUINO_H
#define TINYATTN_ARDUINO_H

#include "tinyattn/tinyattn.h"
#include "tinyattn/tinyattn_models.h"
#include "tinyattn/tinyattn_operations.h"

#endif
