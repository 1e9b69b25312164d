// SPDX-License-Identifier: MIT
//
// A training pass: which draw decides which weight and which output, from either generator, against plain loops bit for bit.
#include <cstdint>

#include "plain_layer.hpp"
#include "tinyattn/dropout.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr AttentionConfig base{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2};
constexpr AttentionConfig without_mask{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2, .causal = false};
constexpr AttentionConfig with_bias{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2, .qkv_bias = true};
constexpr AttentionConfig without_projection{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2, .out_proj = false};
constexpr AttentionConfig of_several_blocks{.d_in = 3, .d_out = 6, .context_length = 37, .num_heads = 3};

consteval AttentionConfig with_rates(AttentionConfig config, double dropout, double residual_dropout) {
  config.dropout = dropout;
  config.residual_dropout = residual_dropout;
  return config;
}

// What dropout makes of ones, which dropout.cpp holds to its draws: a factor for each weight and output of item `item` of two.
template <class Weights, class Outputs>
struct Drops {
  const Weights& weights;
  const Outputs& outputs;
  std::size_t item;

  constexpr float weight(std::size_t head, std::size_t i, std::size_t j) const noexcept { return weights(item, head, i, j); }
  constexpr float output(std::size_t i, std::size_t j) const noexcept { return outputs(item, i, j); }
};

// The weights of both items are drawn first, masked or not, then the outputs of both; and nothing more.
template <AttentionConfig config, std::size_t Tokens>
constexpr void check_generator(Check& check, auto generator) {
  const auto first = numbers<Matrix<float, Tokens, config.d_in>>(2);
  const auto second = numbers<Matrix<float, Tokens, config.d_in>>(3);
  const auto layer = filled<MultiHeadAttention<config>>(1);
  auto same = generator;
  constexpr double rate = config.dropout, residual_rate = config.residual_dropout;
  const auto weights = dropout(ones<float, 2, config.num_heads, Tokens, Tokens>(), rate, same);
  const auto outputs = dropout(ones<float, 2, Tokens, config.d_out>(), residual_rate, same);
  const auto plain = [&](const auto& x, std::size_t item) {
    const auto sees = [](std::size_t i, std::size_t j) { return !config.causal || j <= i; };
    return plain_forward(layer, x, x, x, sees, Drops<decltype(weights), decltype(outputs)>{weights, outputs, item}).out;
  };
  typename MultiHeadAttention<config>::Workspace workspace{};
  check_output(check, stack(plain(first, 0), plain(second, 1)),
               [&](auto& out) { layer.forward(hidden(stack(first, second)), out, workspace, generator); });
  check.same_bits(dropout(ones<float, 9>(), 0.5, generator), dropout(ones<float, 9>(), 0.5, same));
}

template <AttentionConfig config, std::size_t Tokens = 5>
constexpr void check_training(Check& check) {
  check_generator<config, Tokens>(check, Mt19937(hidden(123u)));
}

constexpr Test tests[] = {
    at_run_time("dropout of weights, of outputs and of both, whatever else a layer has",
                [](Check& check) {
                  check_training<with_rates(base, 0.5, 0.0)>(check);
                  check_training<with_rates(base, 0.0, 0.5)>(check);
                  check_training<with_rates(base, 0.25, 0.1)>(check);
                  check_training<with_rates(without_mask, 0.1, 0.25)>(check);
                  check_training<with_rates(with_bias, 0.15, 0.4)>(check);
                  check_training<with_rates(without_projection, 0.3, 0.2)>(check);
                  check_training<with_rates(of_several_blocks, 0.5, 0.25), 37>(check);
                }),
    at_run_time("rates of 0 and 1 draw nothing",
                [](Check& check) {
                  check_training<base>(check);
                  check_training<with_rates(base, 1.0, 0.0)>(check);
                  check_training<with_rates(base, 0.0, 1.0)>(check);
                }),
    everywhere("two short sequences from either generator, in the compiler as well",
               [](Check& check) {
                 check_generator<with_rates(base, 0.5, 0.25), 2>(check, Mt19937(hidden(123u)));
                 check_generator<with_rates(base, 0.5, 0.25), 2>(check, Philox4x32(hidden(std::uint64_t{9}), 40));
               }),
    at_run_time("every other form of forward leaves rates alone, and its weights are those before dropout",
                [](Check& check) {
                  const auto x = numbers<Matrix<float, 4, 3>>(4);
                  const auto layer = filled<MultiHeadAttention<with_rates(base, 0.5, 0.5)>>(1);
                  check_forms(check, plain_forward(layer, x), layer, x);
                }),
};

}  // namespace

int main() { return run(tests); }
