// SPDX-License-Identifier: MIT
//
// An attention layer and its relatives: weights of a batch and of cross-attention, heads that are stacked, first weights, workspaces.
#include <type_traits>

#include "plain_heads.hpp"
#include "support/check.hpp"

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

constexpr void fill_with(Layer::Workspace& workspace, float value) {
  for (float& element : workspace.scratch) element = value;
}

constexpr Test tests[] = {
    everywhere("the weights of cross-attention",
               [](Check& check) {
                 const auto memory = numbers<Matrix<float, 6, 3>>(6);
                 Layer::Workspace workspace{};
                 Guarded<Matrix<float, 5, 4>> out;
                 Guarded<Tensor<float, 2, 5, 6>> weights;
                 layer.forward_with_weights(hidden(x), memory, memory, out.tensor, weights.tensor, workspace);
                 const auto plain = plain_forward(layer, x, memory, memory, sees_the_past);
                 check.same_bits(out.tensor, plain.out);
                 check.same_bits(weights.tensor, plain.weights);
                 check.that(out.guards_hold() && weights.guards_hold());
               }),
    everywhere("the weights of a batch",
               [](Check& check) {
                 Layer::Workspace workspace{};
                 Tensor<float, 2, 5, 4> out{};
                 Guarded<Tensor<float, 2, 2, 5, 5>> weights;
                 layer.forward_with_weights(hidden(stack(x, other_x)), out, weights.tensor, workspace);
                 check.same_bits(weights.tensor, stack(plain_forward(layer, x).weights, plain_forward(layer, other_x).weights));
                 check.same_bits(out, stack(layer(x), layer(other_x)));
                 check.that(weights.guards_hold());
               }),
    everywhere("stacked heads stand side by side",
               [](Check& check) {
                 const auto out = stacked(hidden(x));
                 static_assert(std::is_same_v<decltype(out), const Matrix<float, 5, 6>>);
                 check.same_bits(out, concat_columns(concat_columns(stacked.heads[0](x), stacked.heads[1](x)), stacked.heads[2](x)));
                 check.same_bits(plain_columns<2>(out, 4), plain_forward(stacked.heads[2], x).out);
                 check.same_bits(stacked(hidden(stack(x, other_x))), stack(stacked(x), stacked(other_x)));
               }),
    everywhere("one stacked head is a causal head",
               [](Check& check) {
                 const StackedCausalAttention<3, 2, 6, 1> single{{filled<Head>(10)}};
                 check.same_bits(single(hidden(x)), single.heads[0](x));
               }),
    everywhere("split heads see what separate heads with their columns would see",
               [](Check& check) {
                 using Split =
                     MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 6, .context_length = 6, .num_heads = 3, .out_proj = false}>;
                 Split split{};
                 const auto join = [](const auto& a, const auto& b, const auto& c) { return concat_columns(concat_columns(a, b), c); };
                 split.query.weight = join(stacked.heads[0].query.weight, stacked.heads[1].query.weight, stacked.heads[2].query.weight);
                 split.key.weight = join(stacked.heads[0].key.weight, stacked.heads[1].key.weight, stacked.heads[2].key.weight);
                 split.value.weight = join(stacked.heads[0].value.weight, stacked.heads[1].value.weight, stacked.heads[2].value.weight);
                 check.same_bits(split(hidden(x)), stacked(x));
               }),
    everywhere("first weights: query, key, value, out_proj, each before its bias",
               [](Check& check) {
                 Layer drawn{};
                 Mt19937 generator(hidden(123u));
                 initialize(drawn, generator);
                 Layer expected{};
                 Mt19937 same(123);
                 initialize(expected.query, same);
                 initialize(expected.key, same);
                 initialize(expected.value, same);
                 initialize(expected.out_proj, same);
                 check.that(drawn == expected);
                 check.equal(generator(), same());
                 check.that(drawn.query.weight != drawn.key.weight);
               }),
    everywhere("first weights of stacked heads, head by head",
               [](Check& check) {
                 Stacked drawn{};
                 Mt19937 generator(hidden(123u));
                 initialize(drawn, generator);
                 Mt19937 same(123);
                 for (const Head& head : drawn.heads) {
                   Head expected{};
                   initialize(expected, same);
                   check.that(head == expected);
                 }
               }),
    at_run_time("what a workspace held before does not matter",
                [](Check& check) {
                  static Layer::Workspace clean;
                  static Layer::Workspace dirty;
                  fill_with(clean, 0.0f);
                  fill_with(dirty, quiet_nan);
                  Matrix<float, 5, 4> expected{};
                  Matrix<float, 5, 4> out{};
                  layer.forward(hidden(x), expected, clean);
                  layer.forward(hidden(x), out, dirty);
                  check.same_bits(out, expected);
                  layer.forward(hidden(other_x), out, dirty);
                  layer.forward(hidden(x), out, dirty);
                  check.same_bits(out, expected);
                }),
    at_run_time("each call with a workspace of its own: they know nothing of each other",
                [](Check& check) {
                  static Layer::Workspace first;
                  static Layer::Workspace second;
                  fill_with(first, quiet_nan);
                  fill_with(second, 1.0f);
                  Matrix<float, 5, 4> out{};
                  Matrix<float, 5, 4> other_out{};
                  layer.forward(hidden(x), out, first);
                  const Layer::Workspace left_behind = first;
                  layer.forward(hidden(other_x), other_out, second);
                  check.same_bits(out, plain_forward(layer, x).out);
                  check.same_bits(other_out, plain_forward(layer, other_x).out);
                  for (std::size_t i = 0; i < 24; ++i) check.same_bits(first.scratch[i], left_behind.scratch[i]);
                }),
};

}  // namespace

int main() { return run(tests); }
