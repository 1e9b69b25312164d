// SPDX-License-Identifier: MIT
//
// Replays every recorded case: draws weights and inputs from its seed in the order of generate.py, then compares attention weights and
// output, which are a training pass's if the case has dropout.
#include "values.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

// unit/multi_head_attention checks that the other forms of forward have the same bits.
template <const auto& recorded, AttentionConfig config = std::remove_cvref_t<decltype(recorded)>::config>
struct Replay {
  MultiHeadAttention<config> attention{};
  decltype(recorded.x) x{};
  decltype(recorded.memory) memory{};
  decltype(recorded.output) out{};
  decltype(recorded.weights) weights{};
  typename MultiHeadAttention<config>::Workspace workspace{};

  constexpr void check(Check& check) {
    Mt19937 generator(opaque(recorded.seed));
    initialize(attention, generator);
    draw(generator, x);
    check.same_bits(x, recorded.x);
    if constexpr (recorded.is_cross) {
      draw(generator, memory);
      check.same_bits(memory, recorded.memory);
      attention.forward_with_weights(x, memory, memory, out, weights, workspace);
    } else {
      attention.forward_with_weights(x, out, weights, workspace);
    }
    check.near(weights, recorded.weights, tolerance);
    if constexpr (config.dropout != 0.0) attention.forward(x, out, workspace, generator);
    check.near(out, recorded.output, tolerance);
  }
};

// Every case runs on the machine, small ones in the compiler too. The larger ones exceed a board's stack.
template <const auto& recorded>
constexpr Test test_of() {
  if constexpr (recorded.x.size() * recorded.output.extent(1) <= 400)
    everywhere(recorded.name, [](Check& check) { Replay<recorded>{}.check(check); });
  return at_run_time(recorded.name, [](Check& check) {
    static Replay<recorded> replay{};
    replay.check(check);
  });
}

template <const auto&... cases>
int run_all(reference::List<cases...>) {
  static constexpr Test tests[] = {test_of<cases>()...};
  return run(tests);
}

}  // namespace

int main() { return run_all(reference::Cases{}); }
