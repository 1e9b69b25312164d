// SPDX-License-Identifier: MIT
//
// GRU and LSTM: plain loops, tokens in several calls, PyTorch's layout, what is not finite.
#include "tinyattn/recurrent.hpp"

#include "forms.hpp"

namespace tinyattn::test { namespace {

constexpr RecurrentConfig config = {.in = 3, .hidden = 5};
constexpr RecurrentConfig without_bias = {.in = 2, .hidden = 17, .bias = false};
constexpr RecurrentConfig in_int8 = {.in = 3, .hidden = 5, .weights = Weights::int8};

static_assert(Gru<config>::parameter_count == 15 * (3 + 5 + 2) && Lstm<without_bias>::parameter_count == 68 * (2 + 17));
static_assert(sizeof(Gru<config>) == Gru<config>::parameter_bytes && sizeof(Lstm<config>::State) == 2 * 5 * sizeof(float));
static_assert(sizeof(Gru<config>::State) == 5 * sizeof(float) && std::is_aggregate_v<Gru<config>>);
static_assert(sizeof(Gru<config>::Workspace) == 5 * 15 * sizeof(float));

constexpr float logistic(float x) {
  const float size = x < 0.0f ? -x : x, e = size > 86.0f ? 0.0f : exp(-size);
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

// Reads tokens one by one, element by element; row 1 of an LSTM's state is its cell.
template <class Layer, std::size_t Tokens, std::size_t Hidden = Layer::d_hidden>
constexpr auto in_plain_loops(const Layer& layer, const Matrix<float, Tokens, Layer::d_in>& x, typename Layer::State& state) {
  Matrix<float, Tokens, Hidden> out{};
  for (std::size_t t = 0; t < Tokens; ++t) {
    const auto of_x = layer.input(row(x, t));
    const auto of_h = layer.recurrent(MatrixView<const float, 1, Hidden, Hidden>{state.data()});
    for (std::size_t j = 0; j < Hidden; ++j) {
      const auto sum = [&](std::size_t gate) { return of_x(gate * Hidden + j) + of_h(0, gate * Hidden + j); };
      float &h = state.elements[j], &c = state.elements[Layer::is_lstm ? Hidden + j : j];
      if (Layer::is_lstm) {
        const float written = logistic(sum(0)) * tanh(sum(2));
        c = fma(logistic(sum(1)), c, written);
        h = logistic(sum(3)) * tanh(c);
      } else {
        const float n = tanh(fma(logistic(sum(0)), of_h(0, 2 * Hidden + j), of_x(2 * Hidden + j)));
        h = fma(logistic(sum(1)), h - n, n);
      }
      out(t, j) = h;
    }
  }
  return out;
}

// All tokens in one call; one, five and one, by views; and without a result.
template <class Layer>
constexpr void check_layer(Check& check) {
  constexpr std::size_t in = Layer::d_in, hidden = Layer::d_hidden;
  const auto layer = drawn<Layer>(1);
  const auto x = drawn<Matrix<float, 7, in>>(2);
  auto state = drawn<typename Layer::State>(3), start = state, expected = state;
  typename Layer::Workspace workspace;
  const auto out = in_plain_loops(layer, opaque(x), expected);
  check_output(check, out, [&](auto& to) { layer.forward(x, state = start, to, workspace); });
  check.that(state == expected);
  check_output(check, row(out, 0), [&](auto& to) { layer.forward(row(x, 0), state = start, to, workspace); });
  Matrix<float, 5, hidden> middle{};
  for (std::size_t i = 0; i < middle.size(); ++i) middle.elements[i] = out.elements[hidden + i];
  check_output(check, widened(middle, 1), [&](auto& wide) {
    auto to = columns<hidden>(wide, 1);
    layer.forward(MatrixView<const float, 5, in, in>{x.data() + in}, state, to, workspace);
  });
  check_output(check, row(out, 6), [&](auto& to) { layer.forward(row(x, 6), state, to, workspace); });
  check.that(state == expected);
  layer.forward(x, state = start, workspace);
  check.that(state == expected);
}

// Gates of infinity are 0 or 1; a NaN stays in the features whose gates have it.
template <class Layer>
void check_not_finite(Check& check) {
  typename Layer::Workspace workspace;
  for (const float x : {infinity, -infinity, 1e30f, -1e30f, quiet_nan}) {
    Layer layer{};
    for (std::size_t gate = 0; gate < Layer::gates; ++gate) layer.input.bias(gate * 5 + 1) = opaque(x);
    auto state = drawn<typename Layer::State>(1);
    layer.forward(zeros<float, 3>(), state, workspace);
    for (std::size_t j = 0; j < state.size(); ++j) check.that((state.elements[j] != state.elements[j]) == (x != x && j % 5 == 1));
  }
}

constexpr Test tests[] = {
    everywhere("a GRU as in plain loops, in each form", check_layer<Gru<config>>),
    everywhere("an LSTM as in plain loops, in each form", check_layer<Lstm<config>>),
    at_run_time("without a bias, of a width that fills no vectors",
                each_of<check_layer<Gru<without_bias>>, check_layer<Lstm<without_bias>>>),
    everywhere("a GRU with int8 weights", check_layer<Gru<in_int8>>),
    everywhere("an LSTM with int8 weights", check_layer<Lstm<in_int8>>),
    everywhere("quantize does what it does of a Linear",
               [](Check& check) {
                 const auto layer = drawn<Lstm<config>>(1);
                 check.that(quantize(layer) == Lstm<in_int8>{quantize(layer.input), quantize(layer.recurrent)});
               }),
    at_run_time("what is not finite", each_of<check_not_finite<Gru<config>>, check_not_finite<Lstm<config>>>),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
