// SPDX-License-Identifier: MIT
//
// Replays every recorded case: draws weights and inputs from its seed in the order of generate.py, then compares attention weights and
// output; for a case with dropout, those of a training pass.

#include "reference/cases.hpp"

#include <cstddef>
#include <tuple>

#include "golden.hpp"
#include "reference/dropout.hpp"
#include "tinyattn/multi_head_attention.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

template <class Case>
struct Replay {
  static constexpr AttentionConfig config = Case::config;
  static constexpr bool drops = config.dropout != 0.0 || config.residual_dropout != 0.0;
  using Attention = MultiHeadAttention<config>;

  Attention attention{};
  Tensor<float, Case::tokens, config.d_in> x{};
  Tensor<float, Case::source_tokens, config.d_in> memory{};
  Tensor<float, Case::tokens, config.d_out> out{};
  Tensor<float, config.num_heads, Case::tokens, Case::source_tokens> weights{};
  typename Attention::Workspace workspace{};

  // The other forms of forward have the same bits: unit/multi_head_attention.
  constexpr void check(Check& check) {
    Mt19937 generator(opaque(Case::seed));
    initialize(attention, generator);
    draw(check, generator, x, Case::x);
    if constexpr (Case::is_cross) {
      draw(check, generator, memory, Case::memory);
      attention.forward_with_weights(x, memory, memory, out, weights, workspace);
    } else {
      attention.forward_with_weights(x, out, weights, workspace);
    }
    check.near(weights, Case::weights, tolerance);
    if constexpr (drops) attention.forward(x, out, workspace, generator);
    check.near(out, Case::output, tolerance);
  }

  static constexpr void draw(Check& check, Mt19937& generator, auto& input, const auto& recorded) {
    for (float& element : input.elements) element = uniform(generator, -1.0f, 1.0f);
    check.same_bits(input, recorded);
  }
};

// Every case runs on the machine, a small one in the compiler too. A board's stack is too small for the larger ones.
template <class Case>
constexpr Test test_of() {
  if constexpr (Case::tokens * Case::config.d_in * Case::config.d_out <= 400)
    everywhere(Case::name, [](Check& check) { Replay<Case>{}.check(check); });
  return at_run_time(Case::name, [](Check& check) {
    static Replay<Case> replay{};
    replay.check(check);
  });
}

template <class... Cases>
int run_all(std::tuple<Cases...>) {
  static constexpr Test tests[] = {test_of<Cases>()...};
  return run(tests);
}

}  // namespace

int main() { return run_all(std::tuple_cat(reference::cases::All{}, reference::dropout::All{})); }
