// SPDX-License-Identifier: MIT
//
// Runs one operation of the port of this build and prints the port's name, if this machine can execute it.
#include "tinyattn/port/native.hpp"

#include <cstdio>

int main() {
  using port = tinyattn::native_port;
  float x[16] = {1.0f};
  port::store(x, port::fma(port::broadcast(2.0f), port::load(x), port::splat(3.0f)));
#define NAME_OF(port) TINYATTN_TEXT(port)
  return x[0] == 5.0f && std::puts(NAME_OF(TINYATTN_PORT)) >= 0 ? 0 : 1;
}
