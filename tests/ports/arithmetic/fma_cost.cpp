// SPDX-License-Identifier: MIT
//
// Counts the instructions of an fma, and of the loop around it, on a core without an FPU. Runs on boards.
#include "board.h"
#include "catalogue/draw.hpp"
#include "support/check.hpp"
#include "support/print.hpp"
#include "tinyattn/math.hpp"

#include <cstddef>

namespace tinyattn::test { namespace {

#if defined(__ARM_ARCH_6M__)
constexpr unsigned limit = 240;  // Cortex-M0, which has no instruction for a 64-bit product
#else
constexpr unsigned limit = 110;  // Cortex-M3
#endif

constexpr std::size_t terms = 256;
Vector<float, terms> u, v;

[[gnu::noinline]] float fused() {
  float sum = 0.0f;
  for (std::size_t k = 0; k < terms; ++k) sum = fma(u(k), v(k), sum);
  return sum;
}

constexpr Test tests[] = {
    at_run_time("a multiply-add stays below its limit",
                [](Check& check) {
                  u = drawn<Vector<float, terms>>(1);
                  v = drawn<Vector<float, terms>>(2);
                  const unsigned long long begin = board_ticks();
                  static_cast<void>(opaque(fused()));
                  const auto cost = static_cast<unsigned>(board_instructions(board_ticks() - begin) / terms);
                  print("# instructions per fma: ", cost, "\n");
                  check.that(cost > 0 && cost <= limit);
                }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
