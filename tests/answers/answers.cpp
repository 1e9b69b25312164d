// SPDX-License-Identifier: MIT
//
// Calls every operation of the compiled library with drawn shapes. Each call has memory of exactly the promised size, must write nothing
// else, and must compute the bits of plain loops, whatever scratch and caches held before.
//
//     TINYATTN_PORT=avx2 answers [CALLS]
#include "library.hpp"
#include "table.hpp"

#if __STDC_HOSTED__
#include <cstdlib>
#include <string_view>
#endif

namespace {

using namespace tinyattn::test;

// The port that the environment asks for, if this processor cannot execute it; else null.
const char* lacking_port() {
#if __STDC_HOSTED__
  const char* const wanted = std::getenv("TINYATTN_PORT");
  if (wanted != nullptr && std::string_view(wanted) != tinyattn_port()) return wanted;
#endif
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (const char* const port = lacking_port()) {
    print("1..1\nok 1 - answers # SKIP this processor lacks ", port, "\n");
    return 0;
  }
  return run(operations, calls_of(argc, argv, 120));
}
