// SPDX-License-Identifier: MIT
//
// Rows of every length around the sixteen lanes of a sum, at several scales.
#include <utility>

#include "plain.hpp"
#include "tinyattn/softmax.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

template <std::size_t Length>
[[gnu::noinline]] void check_length(Check& check) {
  using Rows = Matrix<float, 2, Length>;
  const auto unit = hidden(numbers<Rows>(Length));
  const auto check_scale = [&](const Rows& scores, float scale, const Rows& expected) {
    check_output(check, expected, [&](auto& out) { softmax(scores, scale, out); });
  };
  for (const float scale : {1.0f, 0.125f, 40.0f, 1e10f}) check_scale(unit, scale, plain_softmax(unit, scale, sees_everything));
  for (const float scale : {0.0f, 0x1p-127f}) check_scale(unit, scale, softmax(zeros<float, 2, Length>()));
  // Far apart: most of the row lies below the cutoff.
  auto wide = unit;
  for (float& element : wide.elements) element *= 100.0f;
  check_scale(wide, 1.0f, plain_softmax(wide, 1.0f, sees_everything));
}

template <std::size_t First, std::size_t Count>
void check_lengths(Check& check) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (check_length<First + I>(check), ...); }
  (std::make_index_sequence<Count>{});
}

constexpr Test tests[] = {
    at_run_time("1 to 35", [](Check& check) { check_lengths<1, 35>(check); }),
    at_run_time("around 48, 64, 80, 96, 112 and 128",
                [](Check& check) {
                  check_lengths<47, 3>(check);
                  check_lengths<63, 3>(check);
                  check_lengths<79, 3>(check);
                  check_lengths<95, 3>(check);
                  check_lengths<111, 3>(check);
                  check_lengths<127, 3>(check);
                }),
};

}  // namespace

int main() { return run(tests); }
