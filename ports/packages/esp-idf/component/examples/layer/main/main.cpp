// SPDX-License-Identifier: MIT
//
// An attention layer on an ESP32, by the compiled library and by the headers.
#include "print_layer.hpp"

extern "C" void app_main() { std::printf(print_layer() ? "the same bits\n" : "different bits\n"); }
