// SPDX-License-Identifier: MIT
//
// Attention of many shapes, self and cross: the recorded output and weights, with and without asking for weights.

#include "reference/cases.hpp"

#include "reference/dropout.hpp"
#include "replay.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

struct Evaluation {
  template <class Case>
  static constexpr void check(Check& check, Replay<Case>& replay, Mt19937&) {
    replay.forget();
    replay.forward_with_weights();
    check.near(replay.weights, Case::weights, tolerance);
    if constexpr (!Replay<Case>::drops) {
      check.near(replay.out, Case::output, tolerance);
      replay.forget();
      replay.forward();
      check.near(replay.out, Case::output, tolerance);
    }
  }
};

}  // namespace

int main() { return run_all<Evaluation>(std::tuple_cat(reference::cases::All{}, reference::dropout::All{})); }
