// SPDX-License-Identifier: MIT
//
// sqrt of all floats against the machine's own, which IEEE 754 requires to be correctly rounded.
#include "tinyattn/math.hpp"

#include "in_parallel.hpp"
#include "verdicts.hpp"

#include <cinttypes>
#include <cmath>

namespace tinyattn::test {
namespace {

struct Report {
  std::uint64_t mistakes = 0;
  std::uint32_t example = 0xffffffffu;  // the lowest bits that went wrong

  Report& operator+=(const Report& other) {
    mistakes += other.mistakes;
    example = std::min(example, other.example);
    return *this;
  }
};

void check_piece(Report& report, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t bits = first; bits < last; ++bits) {
    const float x = from_bits(bits);
    if (bits_of(sqrt(x)) != bits_of(std::sqrt(x))) report += {1, static_cast<std::uint32_t>(bits)};
  }
}

void judge(Verdicts& verdicts, const char* name, const Report& report) {
  if (report.mistakes != 0) {
    const float x = from_bits(report.example);
    std::printf("# %" PRIu64 " mistakes, such as sqrt(%a) = %a\n", report.mistakes, static_cast<double>(x), static_cast<double>(sqrt(x)));
  }
  verdicts.that(report.mistakes == 0, name);
}

// All that are not below zero; of the others, whose root is NaN, one in a million and both ends.
int run() {
  constexpr std::uint64_t sign = 0x80000000u;
  Verdicts verdicts;
  judge(verdicts, "the root of every float from +0 to NaN is the machine's",
        in_parallel<Report>(sign, std::uint64_t{1} << 22, check_piece));
  Report below_zero;
  for (std::uint64_t bits = sign; bits < 2 * sign; bits += 1'000'003) check_piece(below_zero, bits, bits + 1);
  for (const std::uint64_t bits : {sign, sign + 1, std::uint64_t{0xff7fffff}, std::uint64_t{0xff800000}, 2 * sign - 1}) {
    check_piece(below_zero, bits, bits + 1);
  }
  judge(verdicts, "below zero there is none, and the root of -0 is -0", below_zero);
  return verdicts.finish();
}

}  // namespace
}  // namespace tinyattn::test

int main() { return tinyattn::test::run(); }
