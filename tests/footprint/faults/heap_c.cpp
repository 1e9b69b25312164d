// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: needs malloc: the heap
#include <cstddef>

extern "C" void* malloc(std::size_t count);

void* attend() { return malloc(16); }
