// SPDX-License-Identifier: MIT
//
// An attention layer on any board whose framework has a console: src/main.cpp of a project. With Arduino's framework, print_layer()
// belongs into setup().
#include "print_layer.hpp"

int main() { return print_layer() ? 0 : 1; }
