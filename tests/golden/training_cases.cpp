// SPDX-License-Identifier: MIT
//
// Training passes of self-attention: the recorded output, with dropout of weights and outputs, and with rates of zero.

#include <type_traits>

#include "reference/cases.hpp"
#include "reference/dropout.hpp"
#include "replay.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

struct Training {
  template <class Case>
  static constexpr void check(Check& check, Replay<Case>& replay, Mt19937& generator) {
    Mt19937 untouched = generator;
    replay.forget();
    replay.train(generator);
    check.near(replay.out, Case::output, tolerance);
    check.equal(generator() == untouched(), !Replay<Case>::drops);
  }
};

template <class... Cases>
auto self_attention_of(std::tuple<Cases...>) {
  return std::tuple_cat(std::conditional_t<Cases::is_cross, std::tuple<>, std::tuple<Cases>>{}...);
}

}  // namespace

int main() { return run_all<Training>(std::tuple_cat(self_attention_of(reference::cases::All{}), reference::dropout::All{})); }
