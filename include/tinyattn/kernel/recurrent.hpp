// SPDX-License-Identifier: MIT
//
// Recurrent layers: GRU and LSTM, token by token.
#pragma once

#include "tinyattn/kernel/int8/product.hpp"
#include "tinyattn/kernel/row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// How many tokens are multiplied with the weights of the input at a time.
inline constexpr std::size_t recurrent_tokens = 4;

// Replaces `count` hidden features, which the cell of an LSTM follows, and copies them to `out`.
// Gates are functions of the products of x and of the hidden features, `count` of each gate.
//
//   GRU   h = n + z (h - n), n = tanh(x_n + r h_n): Cho et al., 2014, with r as PyTorch has it
//   LSTM  c = f c + i g, h = o tanh(c): Hochreiter and Schmidhuber, 1997, with forget gates
template <class Port, bool is_lstm>
[[gnu::noinline]] constexpr void next_state(const float* of_x, const float* of_h, float* state,
                                            float* out, std::size_t count) noexcept {
  using port::elementwise::sigmoid, port::elementwise::tanh;
  for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto sum = [&](std::size_t gate) TINYATTN_INLINE_LAMBDA {
      return Port::add(at.load(of_x + gate * count, 0.0f), at.load(of_h + gate * count, 0.0f));
    };
    const auto set_hidden = [&](auto h) TINYATTN_INLINE_LAMBDA {
      at.store(state, h);
      at.store(out, h);
    };
    if constexpr (is_lstm) {
      const auto i = sigmoid<Port>(sum(0)), f = sigmoid<Port>(sum(1)), o = sigmoid<Port>(sum(3));
      const auto written = Port::mul(i, tanh<Port>(sum(2)));
      const auto c = Port::fma(f, at.load(state + count, 0.0f), written);
      at.store(state + count, c);
      set_hidden(Port::mul(o, tanh<Port>(c)));
    } else {
      const auto r = sigmoid<Port>(sum(0)), z = sigmoid<Port>(sum(1));
      const auto h_n = at.load(of_h + 2 * count, 0.0f), x_n = at.load(of_x + 2 * count, 0.0f);
      const auto n = tanh<Port>(Port::fma(r, h_n, x_n));
      set_hidden(Port::fma(z, Port::add(at.load(state, 0.0f), negative<Port>(n)), n));
    }
  });
}

// Goes on from a state, token by token; out[t] are the hidden features after token t. The weights
// are [in, gates * hidden] and [hidden, gates * hidden], gates 3 or 4; `scratch` has
// (recurrent_tokens + 1) * gates * hidden floats. Rows of `out` may be the state.
template <class Port, bool is_lstm, class Weight>
TINYATTN_KERNEL void recur(std::size_t tokens, std::size_t in, std::size_t hidden, Dense x,
                           const Projection<Weight>& input, const Projection<Weight>& recurrent,
                           float* state, Output out, float* scratch,
                           const auto& integers) noexcept {
  const std::size_t cols = (is_lstm ? 4 : 3) * hidden;
  float* const of_h = scratch + recurrent_tokens * cols;
  for (std::size_t first = 0; first < tokens; first += recurrent_tokens) {
    const std::size_t count = minimum(recurrent_tokens, tokens - first);
    project_few<Port>(count, in, cols, input_of<Port>(input, count, in, x.from(first, 0), integers),
                      input, Output{scratch, cols});
    for (std::size_t t = 0; t < count; ++t) {
      project_few<Port>(1, hidden, cols,
                        input_of<Port>(recurrent, 1, hidden, Dense{state, 0}, integers), recurrent,
                        Output{of_h, cols});
      next_state<Port, is_lstm>(scratch + t * cols, of_h, state, out.at(first + t, 0), hidden);
    }
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
