/* SPDX-License-Identifier: MIT
 *
 * The compiled library for a sketch, in C and in any C++: archives of it lie next to this file for the cores of the README; for others
 * tinyattn.cpp is compiled. The headers of C++20 are in tinyattn.hpp. */
#ifndef TINYATTN_ARDUINO_H
#define TINYATTN_ARDUINO_H

#include "tinyattn/tinyattn.h"
#include "tinyattn/tinyattn_models.h"

#endif
