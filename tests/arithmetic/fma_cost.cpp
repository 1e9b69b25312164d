// SPDX-License-Identifier: MIT
//
// What a multiply-add costs on a core without an FPU, in instructions with the loop around it, beside the
// rounded product and the rounded sum of the compiler's run-time library. Runs on boards.
#include "board.h"
#include "support/check.hpp"
#include "support/print.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/random.hpp"

#include <cstddef>

namespace {

using tinyattn::test::at_run_time;
using tinyattn::test::Check;
using tinyattn::test::print;
using tinyattn::test::Test;

#if defined(__ARM_ARCH_6M__)
constexpr unsigned limit = 240;  // Cortex-M0: no product of 64 bits
#else
constexpr unsigned limit = 110;  // Cortex-M3
#endif

constexpr std::size_t terms = 256;
tinyattn::Vector<float, terms> u;
tinyattn::Vector<float, terms> v;

[[gnu::noinline]] float fused() {
  float sum = 0.0f;
  for (std::size_t k = 0; k < terms; ++k) sum = tinyattn::fma(u(k), v(k), sum);
  return sum;
}

[[gnu::noinline]] float rounded_twice() {
  float sum = 0.0f;
  for (std::size_t k = 0; k < terms; ++k) sum = u(k) * v(k) + sum;
  return sum;
}

unsigned instructions_of(float (*multiply_add)()) {
  const unsigned long long begin = board_ticks();
  const float sum = tinyattn::test::hidden(multiply_add());
  const unsigned long long end = board_ticks();
  static_cast<void>(sum);
  return static_cast<unsigned>(board_instructions(end - begin) / terms);
}

constexpr Test tests[] = {
    at_run_time("a multiply-add stays below its limit",
                [](Check& check) {
                  tinyattn::Philox4x32 generator(1);
                  for (float& element : u.elements) element = tinyattn::uniform(generator, -1.0f, 1.0f);
                  for (float& element : v.elements) element = tinyattn::uniform(generator, -1.0f, 1.0f);
                  const unsigned cost = instructions_of(fused);
                  print("# instructions per fma: ");
                  print(cost);
                  print(", per rounded product and sum: ");
                  print(instructions_of(rounded_twice));
                  print("\n");
                  check.that(cost > 0 && cost <= limit);
                }),
};

}  // namespace

int main() { return tinyattn::test::run(tests); }
