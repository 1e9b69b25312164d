// SPDX-License-Identifier: MIT
//
// A training pass: which draw decides which weight and which output, from either generator, against plain loops bit for bit.
#include <array>
#include <cstdint>

#include "plain_heads.hpp"
#include "support/check.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr AttentionConfig base{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2};

consteval AttentionConfig with_rates(AttentionConfig config, double dropout, double residual_dropout) {
  config.dropout = dropout;
  config.residual_dropout = residual_dropout;
  return config;
}

consteval AttentionConfig without_mask(AttentionConfig config) {
  config.causal = false;
  return config;
}

consteval AttentionConfig with_bias(AttentionConfig config) {
  config.qkv_bias = true;
  return config;
}

consteval AttentionConfig without_projection(AttentionConfig config) {
  config.out_proj = false;
  return config;
}

// Draws as they are stated: MT19937 gives 53 bits of two words, Philox one word of the call's own stream.
struct TwisterDraws {
  Mt19937 generator;

  constexpr void next_call() noexcept {}
  constexpr bool keeps(double rate) noexcept {
    const std::uint64_t high = generator();
    const std::uint64_t both = high << 32 | generator();
    return static_cast<double>(both & 0x1fffffffffffff) < (1.0 - rate) * 0x1p53;
  }
};

struct PhiloxDraws {
  std::uint64_t seed;
  std::uint64_t stream;
  std::uint64_t element = 0;

  constexpr void next_call() noexcept {
    if (element != 0) ++stream;
    element = 0;
  }
  constexpr bool keeps(double rate) noexcept {
    const std::uint32_t word = Philox4x32(seed, stream).block(element / 4)[element % 4];
    ++element;
    return static_cast<double>(word) < (1.0 - rate) * 0x1p32;
  }
};

template <class Tensor>
constexpr Tensor factors(double rate, auto& draws) noexcept {
  draws.next_call();
  Tensor result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (rate == 0.0) {
      result.data()[i] = 1.0f;
    } else if (rate < 1.0 && draws.keeps(rate)) {
      result.data()[i] = 1.0f / static_cast<float>(1.0 - rate);
    }
  }
  return result;
}

template <std::size_t Batch, std::size_t NumHeads, std::size_t Tokens, std::size_t Width>
struct Drops {
  const Tensor<float, Batch, NumHeads, Tokens, Tokens>& weights;
  const Tensor<float, Batch, Tokens, Width>& outputs;
  std::size_t item;

  constexpr float weight(std::size_t head, std::size_t i, std::size_t j) const noexcept { return weights(item, head, i, j); }
  constexpr float output(std::size_t i, std::size_t j) const noexcept { return outputs(item, i, j); }
};

// The weights of all items are drawn first, then the outputs of all items.
template <AttentionConfig config, std::size_t Batch, std::size_t Tokens>
constexpr auto plain_training(const MultiHeadAttention<config>& layer, const Tensor<float, Batch, Tokens, config.d_in>& x, auto draws) {
  constexpr double dropout = config.dropout, residual_dropout = config.residual_dropout;
  const auto weights = factors<Tensor<float, Batch, config.num_heads, Tokens, Tokens>>(dropout, draws);
  const auto outputs = factors<Tensor<float, Batch, Tokens, config.d_out>>(residual_dropout, draws);
  Tensor<float, Batch, Tokens, config.d_out> result{};
  for (std::size_t n = 0; n < Batch; ++n) {
    const auto one = item(x, n);
    const auto sees = [](std::size_t i, std::size_t j) { return !config.causal || j <= i; };
    const auto out =
        plain_forward(layer, one, one, one, sees, Drops<Batch, config.num_heads, Tokens, config.d_out>{weights, outputs, n}).out;
    for (std::size_t i = 0; i < out.size(); ++i) result.data()[n * out.size() + i] = out.data()[i];
  }
  return result;
}

constexpr auto batch = stack(numbers<Matrix<float, 5, 3>>(2), numbers<Matrix<float, 5, 3>>(3));

template <AttentionConfig config>
constexpr void check_both_generators(Check& check) {
  using Layer = MultiHeadAttention<config>;
  const auto layer = filled<Layer>(1);
  typename Layer::Workspace workspace{};
  Guarded<Tensor<float, 2, 5, config.d_out>> out;
  Mt19937 twister(hidden(123u));
  layer.forward(hidden(batch), out.tensor, workspace, twister);
  check.same_bits(out.tensor, plain_training(layer, batch, TwisterDraws{Mt19937(123)}));
  check.that(out.guards_hold());
  Philox4x32 philox(hidden(std::uint64_t{9}), 40);
  layer.forward(hidden(batch), out.tensor, workspace, philox);
  check.same_bits(out.tensor, plain_training(layer, batch, PhiloxDraws{9, 40}));
  check.that(out.guards_hold());
}

template <AttentionConfig config>
constexpr auto train(auto& generator, const auto& x) {
  const auto layer = filled<MultiHeadAttention<config>>(1);
  typename MultiHeadAttention<config>::Workspace workspace{};
  decltype(layer(x)) out{};
  layer.forward(hidden(x), out, workspace, generator);
  return out;
}

constexpr auto x = numbers<Matrix<float, 4, 3>>(4);

constexpr Test tests[] = {
    at_run_time("dropout of weights", [](Check& check) { check_both_generators<with_rates(base, 0.5, 0.0)>(check); }),
    at_run_time("dropout of outputs", [](Check& check) { check_both_generators<with_rates(base, 0.0, 0.5)>(check); }),
    at_run_time("dropout of both: weights of all items first, then outputs",
                [](Check& check) { check_both_generators<with_rates(base, 0.25, 0.1)>(check); }),
    at_run_time("dropout without a causal mask",
                [](Check& check) { check_both_generators<without_mask(with_rates(base, 0.1, 0.25))>(check); }),
    at_run_time("dropout with biases of queries, keys and values",
                [](Check& check) { check_both_generators<with_bias(with_rates(base, 0.15, 0.4))>(check); }),
    at_run_time("dropout without an output projection",
                [](Check& check) { check_both_generators<without_projection(with_rates(base, 0.3, 0.2))>(check); }),
    everywhere("one sequence, in the compiler as well",
               [](Check& check) {
                 constexpr auto config = with_rates(base, 0.5, 0.25);
                 Mt19937 generator(hidden(5u));
                 Tensor<float, 1, 4, 3> one{};
                 for (std::size_t i = 0; i < one.size(); ++i) one.data()[i] = x.data()[i];
                 check.same_bits(train<config>(generator, x),
                                 plain_training(filled<MultiHeadAttention<config>>(1), one, TwisterDraws{Mt19937(5)}));
               }),
    everywhere("without rates a training pass is a forward pass, and draws nothing",
               [](Check& check) {
                 Mt19937 twister(hidden(5u));
                 check.same_bits(train<base>(twister, x), filled<MultiHeadAttention<base>>(1)(x));
                 check.equal(twister(), Mt19937(5)());
                 Philox4x32 philox(hidden(std::uint64_t{5}));
                 train<base>(philox, x);
                 check.equal(philox.block(0), Philox4x32(5).block(0));
               }),
    everywhere("rates of 1: nothing is left, and nothing was drawn",
               [](Check& check) {
                 Mt19937 generator(hidden(5u));
                 const auto out = train<with_rates(base, 1.0, 0.0)>(generator, x);
                 for (std::size_t i = 0; i < 4; ++i) check.same_bits(row(out, i), filled<MultiHeadAttention<base>>(1).out_proj.bias);
                 check.same_bits(train<with_rates(base, 0.0, 1.0)>(generator, x), zeros<float, 4, 4>());
                 check.equal(generator(), Mt19937(5)());
               }),
    everywhere("each dropout of a pass takes one stream of Philox",
               [](Check& check) {
                 Philox4x32 both(hidden(std::uint64_t{7}), 3);
                 train<with_rates(base, 0.5, 0.5)>(both, x);
                 check.equal(both.block(0), Philox4x32(7, 5).block(0));
                 Philox4x32 one(hidden(std::uint64_t{7}), 3);
                 train<with_rates(base, 0.5, 0.0)>(one, x);
                 check.equal(one.block(0), Philox4x32(7, 4).block(0));
               }),
    at_run_time("masked weights are drawn too: two words for each of them",
                [](Check& check) {
                  Mt19937 generator(hidden(5u));
                  Mt19937 same(5);
                  train<with_rates(base, 0.5, 0.5)>(generator, x);
                  for (std::size_t i = 0; i < 2 * (2 * 4 * 4 + 4 * 4); ++i) same();
                  check.equal(generator(), same());
                }),
    at_run_time("dropout rates leave every other form of forward alone",
                [](Check& check) {
                  const auto layer = filled<MultiHeadAttention<with_rates(base, 0.5, 0.5)>>(1);
                  const auto plain = filled<MultiHeadAttention<base>>(1);
                  check.same_bits(layer(hidden(x)), plain(x));
                }),
    at_run_time("the weights that come back are those before dropout",
                [](Check& check) {
                  constexpr auto config = with_rates(base, 0.5, 0.5);
                  MultiHeadAttention<config>::Workspace workspace{};
                  Matrix<float, 4, 4> out{};
                  Tensor<float, 2, 4, 4> weights{};
                  filled<MultiHeadAttention<config>>(1).forward_with_weights(hidden(x), out, weights, workspace);
                  check.same_bits(weights, plain_forward(filled<MultiHeadAttention<base>>(1), x).weights);
                }),
    at_run_time("several blocks of rows",
                [](Check& check) {
                  constexpr AttentionConfig config{
                      .d_in = 3, .d_out = 6, .context_length = 37, .num_heads = 3, .dropout = 0.5, .residual_dropout = 0.25};
                  static Tensor<float, 1, 37, 3> sequence;
                  sequence = numbers<Tensor<float, 1, 37, 3>>(6);
                  const auto layer = filled<MultiHeadAttention<config>>(1);
                  static MultiHeadAttention<config>::Workspace workspace;
                  static Tensor<float, 1, 37, 6> out;
                  Philox4x32 generator(11);
                  layer.forward(sequence, out, workspace, generator);
                  check.same_bits(out, plain_training(layer, sequence, PhiloxDraws{11, 0}));
                }),
};

}  // namespace

int main() { return run(tests); }
