// SPDX-License-Identifier: MIT
//
// Recurrent layers, which read tokens one after the other and remember what they need: Gru, Lstm.
#pragma once

#include "tinyattn/detail/integer_workspace.hpp"
#include "tinyattn/kernel/recurrent.hpp"
#include "tinyattn/linear.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn {

// The shape of a recurrent layer.
struct RecurrentConfig {
  std::size_t in;                  // features of a token
  std::size_t hidden;              // features of the state, and of a token of the result
  bool bias = true;                // whether both products have biases
  Weights weights = Weights::f32;  // of both products
};

// The kinds of recurrent layers.
enum class Recurrence {
  gru,  // torch.nn.GRU
  lstm  // torch.nn.LSTM
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

template <RecurrentConfig config>
consteval bool check_recurrent_config() noexcept {
  static_assert(config.in != 0 && config.hidden != 0, "in and hidden must not be zero");
  return check_type_of_weights<config.weights>();
}

template <RecurrentConfig config, class TensorX, class Out>
consteval bool check_sequence() noexcept {
  constexpr bool one = LayoutOf<TensorX>::batch == 1;
  static_assert(one, "a recurrent layer reads one sequence, [tokens, features]: each has a state");
  return one && check_rows_of_layer<config.in, config.hidden, TensorX, Out>();
}

}  // namespace detail

// One layer and direction of torch.nn.GRU or torch.nn.LSTM, whose weight_ih is in `input` and whose
// weight_hh is in `recurrent`; also torch.nn.GRUCell and LSTMCell. `hidden` columns of each gate
// follow each other as in PyTorch: r, z and n of a GRU, i, f, g and o of an LSTM.
template <Recurrence kind, RecurrentConfig config>
struct Recurrent {
  static_assert(detail::check_recurrent_config<config>());

  static constexpr bool is_lstm = kind == Recurrence::lstm;  // whether the state has a cell
  // The sizes of the configuration. A 0 is 1 here, so that the members do not diagnose it again.
  static constexpr std::size_t d_in = config.in == 0 ? 1 : config.in,
                               d_hidden = config.hidden == 0 ? 1 : config.hidden;
  static constexpr std::size_t gates = is_lstm ? 4 : 3;  // products of each token

  // Of a token: [in, gates * hidden].
  Linear<d_in, gates * d_hidden, config.bias, config.weights> input{};
  // Of the hidden features: [hidden, gates * hidden].
  Linear<d_hidden, gates * d_hidden, config.bias, config.weights> recurrent{};

  // What the layer remembers: the hidden features, [hidden]; of an LSTM, whose cell is the second
  // row, [2, hidden]. State{}, all zeros, is the start of a sequence.
  using State = std::conditional_t<is_lstm, Matrix<float, 2, d_hidden>, Vector<float, d_hidden>>;

  // All the scratch of a call. Nothing is kept between calls.
  struct Workspace {
    float scratch[(kernel::recurrent_tokens + 1) * gates * d_hidden];  // products
    [[no_unique_address]] detail::IntegerWorkspace<
        config.weights == Weights::int8 ? kernel::maximum(d_in, d_hidden) : 0,
        kernel::recurrent_tokens>
        integers;  // of inputs
  };

  // Reads the tokens of x, [tokens, in], or one, [in], and goes on from `state`: the bits are those
  // of one call with all tokens, however they are divided into calls. out is [tokens, hidden], or
  // [hidden]: the hidden features after each token. It may overlap neither x nor the state.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, State& state, Out& out,
                         Workspace& workspace) const noexcept {
    if constexpr (detail::check_sequence<config, TensorX, Out>())
      read_tokens(x, state, detail::output(out, 0), workspace);
  }

  // The same without a result other than the state.
  template <tensor_like TensorX>
  constexpr void forward(const TensorX& x, State& state, Workspace& workspace) const noexcept {
    if constexpr (detail::check_sequence<config, TensorX,
                                         detail::WithCols<TensorX, config.hidden>>())
      read_tokens(x, state, {state.data(), 0}, workspace);
  }

  TINYATTN_DIAGNOSTIC(
      class First = detail::Anything, forward(const First&, ...) const,
      "forward takes (x, state, workspace) or (x, state, out, workspace): x and out "
      "are tensors or views of float, out neither const nor a temporary, state and "
      "workspace this layer's State and Workspace")

  TINYATTN_MODULE(Recurrent, input, recurrent)

  friend constexpr auto converted(const Recurrent& layer, auto to) noexcept
      requires(config.weights == Weights::f32) {
    return Recurrent<kind, RecurrentConfig{config.in, config.hidden, config.bias, to.weights}>{
        converted(layer.input, to), converted(layer.recurrent, to)};
  }

 private:
  template <class TensorX>
  constexpr void read_tokens(const TensorX& x, State& state, kernel::Output out,
                             Workspace& workspace) const noexcept {
    on_native_port([&](auto port) {
      kernel::recur<decltype(port), is_lstm>(
          detail::LayoutOf<TensorX>::rows, d_in, d_hidden, detail::input(x, 0), describe(input),
          describe(recurrent), state.data(), out, workspace.scratch, workspace.integers.parts());
    });
  }
};

// torch.nn.GRU: its state is its hidden features.
template <RecurrentConfig config>
using Gru = Recurrent<Recurrence::gru, config>;
// torch.nn.LSTM: its state has a cell, too.
template <RecurrentConfig config>
using Lstm = Recurrent<Recurrence::lstm, config>;

// Makes a Gru or an Lstm, as the rows of the weights say, from the tensors of a PyTorch state_dict:
// weight_ih [gates * hidden, in], weight_hh [gates * hidden, hidden], bias_ih and bias_hh. The
// result, with all weights, is on the stack unless it is a constant.
template <RecurrentConfig config, std::size_t Rows, std::size_t In, std::size_t RowsOfHidden,
          std::size_t Hidden, class... Biases>
constexpr auto from_torch(const Matrix<float, Rows, In>& weight_ih,
                          const Matrix<float, RowsOfHidden, Hidden>& weight_hh,
                          const Biases&... biases) noexcept {
  constexpr bool is_lstm = Rows == 4 * config.hidden,
                 rows = RowsOfHidden == Rows && (is_lstm || Rows == 3 * config.hidden),
                 fits = rows && In == config.in && Hidden == config.hidden,
                 has_biases = sizeof...(Biases) == (config.bias ? 2 : 0);
  static_assert(fits,
                "weights must be [3 * hidden, in] and [3 * hidden, hidden] of a GRU, 4 * hidden of "
                "an LSTM, as their configuration says");
  static_assert(has_biases,
                "from_torch takes (weight_ih, weight_hh, bias_ih, bias_hh), or (weight_ih, "
                "weight_hh) if the configuration has no bias");
  using Layer = Recurrent<is_lstm ? Recurrence::lstm : Recurrence::gru, config>;
  if constexpr (!fits || !has_biases)
    return Layer{};
  else if constexpr (config.bias)
    return [&](const auto& bias_ih, const auto& bias_hh) {
      return Layer{from_torch(weight_ih, bias_ih), from_torch(weight_hh, bias_hh)};
    }(biases...);
  else
    return Layer{from_torch(weight_ih), from_torch(weight_hh)};
}

// Draws weight_ih, weight_hh, bias_ih and bias_hh as PyTorch does: uniform from -1 / sqrt(hidden)
// to 1 / sqrt(hidden), in the order of PyTorch's layout.
template <Recurrence kind, RecurrentConfig config, random_generator Generator>
requires(config.weights == Weights::f32) constexpr void initialize(Recurrent<kind, config>& layer,
                                                                   Generator& generator) noexcept {
  detail::draw_uniform<config.hidden>(layer.input.weight, generator);
  detail::draw_uniform<config.hidden>(layer.recurrent.weight, generator);
  if constexpr (config.bias) {
    detail::draw_uniform<config.hidden>(layer.input.bias, generator);
    detail::draw_uniform<config.hidden>(layer.recurrent.bias, generator);
  }
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
