// SPDX-License-Identifier: MIT
//
// An attention layer on Zephyr, by the compiled library and by the headers.
#include "print_layer.hpp"

int main() { return print_layer() ? 0 : 1; }
