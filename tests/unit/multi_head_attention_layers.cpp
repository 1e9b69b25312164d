// SPDX-License-Identifier: MIT
//
// What a layer is made of: heads that are stacked, first weights, workspaces, and parameters that are not finite.
#include <type_traits>

#include "plain_layer.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2, .qkv_bias = true}>;
using Head = CausalAttention<3, 2, 6>;
using Stacked = StackedCausalAttention<3, 2, 6, 3>;

static_assert(sizeof(Stacked) == 3 * sizeof(Head) && std::is_same_v<std::remove_extent_t<decltype(Stacked{}.heads)>, Head>);

constexpr auto layer = filled<Layer>(1);
constexpr auto x = numbers<Matrix<float, 5, 3>>(4);
constexpr auto other_x = numbers<Matrix<float, 5, 3>>(5);
constexpr Stacked stacked{{filled<Head>(10), filled<Head>(20), filled<Head>(30)}};

static_assert(std::is_same_v<decltype(stacked(x)), Matrix<float, 5, 6>>);

template <class Module>
constexpr Module drawn(Mt19937& generator) {
  Module module{};
  initialize(module, generator);
  return module;
}

constexpr Test tests[] = {
    everywhere("stacked heads stand side by side, and write nothing beside their output",
               [](Check& check) {
                 const auto expected =
                     concat_columns(concat_columns(plain_forward(stacked.heads[0], x).out, plain_forward(stacked.heads[1], x).out),
                                    plain_forward(stacked.heads[2], x).out);
                 check.same_bits(stacked(hidden(x)), expected);
                 check_forward(check, expected, stacked, x);
                 check.same_bits(stacked(hidden(stack(x, other_x))), stack(expected, stacked(other_x)));
                 const StackedCausalAttention<3, 2, 6, 1> single{{filled<Head>(10)}};
                 check.same_bits(single(hidden(x)), single.heads[0](x));
               }),
    everywhere("first weights: query, key, value, out_proj, each before its bias; head by head where they are stacked",
               [](Check& check) {
                 Mt19937 generator(hidden(123u));
                 Mt19937 same(123);
                 const auto whole = drawn<Layer>(generator);
                 check.that(whole.query == drawn<decltype(whole.query)>(same));
                 check.that(whole.key == drawn<decltype(whole.key)>(same));
                 check.that(whole.value == drawn<decltype(whole.value)>(same));
                 check.that(whole.out_proj == drawn<decltype(whole.out_proj)>(same));
                 check.that(whole.query.weight != whole.key.weight);
                 for (const Head& head : drawn<Stacked>(generator).heads) check.that(head == drawn<Head>(same));
                 check.equal(generator(), same());
               }),
    at_run_time("what a workspace held before does not matter, and what another call holds in its own",
                [](Check& check) {
                  static Layer::Workspace first;
                  static Layer::Workspace second;
                  for (float& element : first.scratch) element = quiet_nan;
                  Matrix<float, 5, 4> out{};
                  layer.forward(hidden(x), out, first);
                  check.same_bits(out, plain_forward(layer, x).out);
                  const Layer::Workspace left_behind = first;
                  layer.forward(hidden(other_x), out, second);
                  check.same_bits(out, plain_forward(layer, other_x).out);
                  for (std::size_t i = 0; i < 24; ++i) check.same_bits(first.scratch[i], left_behind.scratch[i]);
                }),
    at_run_time("NaN and infinity in every weight, bias and input: as in plain loops",
                [](Check& check) {
                  static auto poisoned = filled<MultiHeadAttention<AttentionConfig{
                      .d_in = 3, .d_out = 4, .context_length = 3, .num_heads = 2, .causal = false, .qkv_bias = true}>>(8);
                  auto input = hidden(plain_rows<3>(x, 0));
                  const auto check_each = [&](auto& parameters) {
                    for (float& element : parameters.elements) {
                      const float before = element;
                      for (const float poison : {quiet_nan, infinity, -infinity}) {
                        element = poison;
                        check.same_bits(poisoned(hidden(input)), plain_forward(poisoned, input).out);
                      }
                      element = before;
                    }
                  };
                  for (auto* linear : {&poisoned.query, &poisoned.key, &poisoned.value}) {
                    check_each(linear->weight);
                    check_each(linear->bias);
                  }
                  check_each(poisoned.out_proj.weight);
                  check_each(poisoned.out_proj.bias);
                  check_each(input);
                }),
};

}  // namespace

int main() { return run(tests); }
