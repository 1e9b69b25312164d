// SPDX-License-Identifier: MIT
//
// A port that the flags cannot build.
//
// expect: the port `helium` needs Helium with float: compile with -mcpu=cortex-m55 -mfloat-abi=hard
// arguments: -DTINYATTN_PORT=helium
#include "tinyattn/matmul.hpp"

int main() {}
