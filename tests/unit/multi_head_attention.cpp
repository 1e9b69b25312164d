// SPDX-License-Identifier: MIT
//
// An attention layer in each form of its forward pass, against plain loops bit for bit. Masks, token counts, shapes and the training
// pass have files of their own.
#include "tinyattn/multi_head_attention.hpp"

#include <type_traits>

#include "plain_heads.hpp"
#include "support/check.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;
using Unmasked = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2, .causal = false}>;
using Square = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .num_heads = 2, .qkv_bias = true}>;
using Bare = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .num_heads = 4, .out_proj = false}>;

static_assert(Layer::head_dim == 2 && Bare::head_dim == 1);
static_assert(Layer::parameter_count == 3 * (3 * 4) + 4 * 4 + 4);
static_assert(Square::parameter_count == 3 * (4 * 4 + 4) + 4 * 4 + 4);
static_assert(Bare::parameter_count == 3 * 4 * 4);

// A layer is its parameters and nothing else; what is absent takes no room.
static_assert(sizeof(Layer) == Layer::parameter_count * sizeof(float));
static_assert(sizeof(Square) == Square::parameter_count * sizeof(float));
static_assert(sizeof(Bare) == Bare::parameter_count * sizeof(float));
static_assert(std::is_aggregate_v<Layer> && std::is_trivially_copyable_v<Layer>);
static_assert(std::is_same_v<decltype(Layer{}.query), Linear<3, 4, false>> && std::is_same_v<decltype(Square{}.query), Linear<4, 4, true>>);
static_assert(std::is_same_v<decltype(Layer{}.out_proj), Linear<4, 4, true>>);
static_assert(std::is_empty_v<decltype(Bare{}.out_proj)>);

static_assert(
    std::is_same_v<SelfAttention<3, 2, 6>,
                   MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 2, .context_length = 6, .causal = false, .out_proj = false}>>);
static_assert(std::is_same_v<CausalAttention<3, 2, 6>,
                             MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 2, .context_length = 6, .out_proj = false}>>);

constexpr auto layer = filled<Layer>(1);
constexpr auto unmasked = filled<Unmasked>(1);
constexpr auto square = filled<Square>(2);
constexpr auto bare = filled<Bare>(3);
constexpr auto x = numbers<Matrix<float, 3, 3>>(4);
constexpr auto other_x = numbers<Matrix<float, 3, 3>>(5);
constexpr auto wide_x = numbers<Matrix<float, 3, 4>>(6);
constexpr auto memory = numbers<Matrix<float, 5, 3>>(7);
constexpr auto other_memory = numbers<Matrix<float, 5, 3>>(8);

constexpr Test tests[] = {
    everywhere("by value",
               [](Check& check) {
                 const auto out = layer(hidden(x));
                 static_assert(std::is_same_v<decltype(out), const Matrix<float, 3, 4>>);
                 check.same_bits(out, plain_forward(layer, x).out);
                 check.same_bits(unmasked(hidden(x)), plain_forward(unmasked, x).out);
                 check.same_bits(square(hidden(wide_x)), plain_forward(square, wide_x).out);
                 check.same_bits(bare(hidden(wide_x)), plain_forward(bare, wide_x).out);
               }),
    everywhere("into an output, and nothing beside it",
               [](Check& check) {
                 Guarded<Layer::Workspace> workspace;
                 Guarded<Matrix<float, 3, 4>> out;
                 layer.forward(hidden(x), out.tensor, workspace.tensor);
                 check.same_bits(out.tensor, plain_forward(layer, x).out);
                 check.that(out.guards_hold() && workspace.guards_hold());
               }),
    everywhere("fewer tokens than context_length, down to one",
               [](Check& check) {
                 const auto one = plain_rows<1>(x, 0);
                 check.same_bits(layer(hidden(one)), plain_forward(layer, one).out);
                 const auto two = plain_rows<2>(x, 1);
                 check.same_bits(layer(hidden(two)), plain_forward(layer, two).out);
               }),
    everywhere("the output may be the input",
               [](Check& check) {
                 Square::Workspace workspace{};
                 auto in_place = hidden(wide_x);
                 square.forward(in_place, in_place, workspace);
                 check.same_bits(in_place, square(wide_x));
                 Bare::Workspace bare_workspace{};
                 in_place = hidden(wide_x);
                 bare.forward(in_place, in_place, bare_workspace);
                 check.same_bits(in_place, bare(wide_x));
               }),
    at_run_time("the output may be the input, of blocks of different heights",
                [](Check& check) {
                  Square::Workspace workspace{};
                  constexpr auto five = numbers<Matrix<float, 5, 4>>(9);
                  auto in_place = hidden(five);
                  square.forward(in_place, in_place, workspace);
                  check.same_bits(in_place, plain_forward(square, five).out);
                }),
    everywhere("a batch, item by item",
               [](Check& check) {
                 Layer::Workspace workspace{};
                 const auto out = layer(hidden(stack(x, other_x)));
                 static_assert(std::is_same_v<decltype(out), const Tensor<float, 2, 3, 4>>);
                 check.same_bits(out, stack(layer(x), layer(other_x)));
                 Guarded<Tensor<float, 2, 3, 4>> guarded;
                 layer.forward(hidden(stack(x, other_x)), guarded.tensor, workspace);
                 check.same_bits(guarded.tensor, out);
                 check.that(guarded.guards_hold());
               }),
    everywhere("cross-attention",
               [](Check& check) {
                 const auto plain = plain_forward(unmasked, x, memory, other_memory, sees_everything);
                 check.same_bits(unmasked(hidden(x), memory, other_memory), plain.out);
                 Unmasked::Workspace workspace{};
                 Guarded<Matrix<float, 3, 4>> out;
                 unmasked.forward(hidden(x), memory, other_memory, out.tensor, workspace);
                 check.same_bits(out.tensor, plain.out);
                 check.that(out.guards_hold());
                 check.same_bits(unmasked(hidden(x), x, x), unmasked(x));
               }),
    everywhere("causal cross-attention is aligned to the top left",
               [](Check& check) {
                 check.same_bits(layer(hidden(x), memory, memory), plain_forward(layer, x, memory, memory, sees_the_past).out);
                 check.same_bits(layer(hidden(memory), x, x), plain_forward(layer, memory, x, x, sees_the_past).out);
               }),
    at_run_time("a batch in cross-attention",
                [](Check& check) {
                  check.same_bits(unmasked(hidden(stack(x, other_x)), stack(memory, other_memory), stack(other_memory, memory)),
                                  stack(unmasked(x, memory, other_memory), unmasked(other_x, other_memory, memory)));
                }),
    everywhere("weights too, head by head",
               [](Check& check) {
                 Layer::Workspace workspace{};
                 Guarded<Matrix<float, 3, 4>> out;
                 Guarded<Tensor<float, 2, 3, 3>> weights;
                 layer.forward_with_weights(hidden(x), out.tensor, weights.tensor, workspace);
                 const auto plain = plain_forward(layer, x);
                 check.same_bits(out.tensor, plain.out);
                 check.same_bits(weights.tensor, plain.weights);
                 check.that(out.guards_hold() && weights.guards_hold());
               }),
};

}  // namespace

int main() { return run(tests); }
