// SPDX-License-Identifier: MIT
//
// Writes the bytes of exported constants. With -DOTHER, this file is another translation unit of that program, with the same constants.
#include <cstdio>

#include "binary.hpp"
#include "constants.hpp"

const void* elsewhere();

#ifdef OTHER
const void* elsewhere() { return &some::model::first; }
#else
namespace {

template <class... Part>
void dump(const Part&... parts) {
  (std::fwrite(&parts, sizeof parts, 1, stdout), ...);
}

}  // namespace

int main() {
  dump(some::model::kinds, some::model::linear, some::model::transposed, some::model::convolution, some::model::first, some::model::second);
  return elsewhere() == &some::model::first ? 0 : 1;
}
#endif
