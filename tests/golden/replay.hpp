// SPDX-License-Identifier: MIT
//
// A recorded case done again: weights and inputs drawn from its seed in the order of generate.py, then a form of the call.
#pragma once

#include <cstddef>
#include <limits>
#include <tuple>

#include "golden.hpp"
#include "tinyattn/multi_head_attention.hpp"

namespace tinyattn::test {

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

  constexpr void draw(Mt19937& generator) {
    initialize(attention, generator);
    for (float& element : x.elements) element = uniform(generator, -1.0f, 1.0f);
    if constexpr (Case::is_cross)
      for (float& element : memory.elements) element = uniform(generator, -1.0f, 1.0f);
  }

  constexpr void forward() {
    if constexpr (Case::is_cross)
      attention.forward(x, memory, memory, out, workspace);
    else
      attention.forward(x, out, workspace);
  }

  constexpr void forward_with_weights() {
    if constexpr (Case::is_cross)
      attention.forward_with_weights(x, memory, memory, out, weights, workspace);
    else
      attention.forward_with_weights(x, out, weights, workspace);
  }

  constexpr void train(Mt19937& generator) { attention.forward(x, out, workspace, generator); }

  // So that no form of the call lives on what another has left.
  constexpr void forget() {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    for (float& element : out.elements) element = nan;
    for (float& element : weights.elements) element = nan;
  }
};

// A form is a type with `check(Check&, Replay<Case>&, Mt19937&)`, called when weights and inputs are drawn.
template <class Form, class Case>
constexpr void check_form(Check& check, Replay<Case>& replay) {
  Mt19937 generator(hidden(Case::seed));
  replay.draw(generator);
  check.same_bits(replay.x, Case::x);
  if constexpr (Case::is_cross) check.same_bits(replay.memory, Case::memory);
  Form::check(check, replay, generator);
}

template <class Form, class Case>
constexpr void in_the_compiler(Check& check) {
  Replay<Case> replay{};
  check_form<Form>(check, replay);
}

// A board's stack is too small for the larger cases.
template <class Form, class Case>
void in_static_memory(Check& check) {
  static Replay<Case> replay{};
  check_form<Form>(check, replay);
}

// Every case runs on the machine, a small one in the compiler too.
template <class Form, class Case>
constexpr Test test_of() {
  if constexpr (Case::tokens * Case::config.d_in * Case::config.d_out <= 400) everywhere(Case::name, in_the_compiler<Form, Case>);
  return at_run_time(Case::name, in_static_memory<Form, Case>);
}

template <class Form, class... Cases>
int run_all(std::tuple<Cases...>) {
  static constexpr Test tests[] = {test_of<Form, Cases>()...};
  return run(tests);
}

}  // namespace tinyattn::test
