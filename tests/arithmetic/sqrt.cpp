// SPDX-License-Identifier: MIT
//
// sqrt of all floats against the machine's own, which IEEE 754 requires to be correctly rounded.
#include <cmath>

#include "in_parallel.hpp"
#include "tinyattn/math.hpp"

namespace tinyattn::test { namespace {

void check_piece(Mistakes<1>& mistakes, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t bits = first; bits < last; ++bits) {
    const float x = from_bits(bits);
    mistakes.note({x}, bits_of(sqrt(x)) == bits_of(std::sqrt(x)));
  }
}

constexpr Test tests[] = {
    at_run_time("the root of every float is the machine's",
                [](Check& check) {
                  const auto mistakes = in_parallel<Mistakes<1>>(std::uint64_t{1} << 32, std::uint64_t{1} << 22, check_piece);
                  mistakes.check_none(check);
                }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
