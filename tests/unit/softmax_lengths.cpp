// SPDX-License-Identifier: MIT
//
// Rows of every length around the sixteen lanes of a sum, at several scales, between guards, against plain loops bit for bit.
#include <utility>

#include "plain.hpp"
#include "support/check.hpp"
#include "tinyattn/softmax.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

template <std::size_t Length>
[[gnu::noinline]] void check_length(Check& check) {
  const auto unit = hidden(numbers<Matrix<float, 2, Length>>(Length));
  Guarded<Matrix<float, 2, Length>> out;
  for (const float scale : {1.0f, 0.125f, 40.0f, 1e10f}) {
    softmax(unit, scale, out.tensor);
    check.same_bits(out.tensor, plain_softmax(unit, scale, sees_everything));
    check.that(out.guards_hold());
  }
  for (const float scale : {0.0f, 0x1p-127f}) {
    softmax(unit, scale, out.tensor);
    check.same_bits(out.tensor, softmax(zeros<float, 2, Length>()));
    check.that(out.guards_hold());
  }
  // Far apart: most of the row lies below the cutoff.
  auto wide = unit;
  for (std::size_t i = 0; i < wide.size(); ++i) wide.data()[i] *= 100.0f;
  softmax(wide, out.tensor);
  check.same_bits(out.tensor, plain_softmax(wide, 1.0f, sees_everything));
  check.that(out.guards_hold());
}

template <std::size_t First, std::size_t... I>
void check_lengths_from(Check& check, std::index_sequence<I...>) {
  (check_length<First + I>(check), ...);
}

constexpr Test tests[] = {
    at_run_time("1 to 35", [](Check& check) { check_lengths_from<1>(check, std::make_index_sequence<35>{}); }),
    at_run_time("around 48, 64 and 80",
                [](Check& check) {
                  check_lengths_from<47>(check, std::make_index_sequence<3>{});
                  check_lengths_from<63>(check, std::make_index_sequence<3>{});
                  check_lengths_from<79>(check, std::make_index_sequence<3>{});
                }),
    at_run_time("around 96, 112 and 128",
                [](Check& check) {
                  check_lengths_from<95>(check, std::make_index_sequence<3>{});
                  check_lengths_from<111>(check, std::make_index_sequence<3>{});
                  check_lengths_from<127>(check, std::make_index_sequence<3>{});
                }),
};

}  // namespace

int main() { return run(tests); }
