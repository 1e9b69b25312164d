// SPDX-License-Identifier: MIT
//
// Less than C++20.
//
// expect: tinyattn needs C++20
// arguments: -std=c++17
#include "tinyattn/tinyattn.hpp"
