// SPDX-License-Identifier: MIT
//
// An attention layer in each form of its forward pass, against plain loops bit for bit. Masks, token counts, shapes and the training
// pass have files of their own.
#include "tinyattn/multi_head_attention.hpp"

#include <type_traits>

#include "plain_layer.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}>;
using Unmasked = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2, .causal = false}>;
using Square = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 9, .num_heads = 2, .qkv_bias = true}>;
using Bare = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 9, .num_heads = 4, .out_proj = false}>;

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
constexpr auto memory = numbers<Matrix<float, 5, 3>>(7);
constexpr auto other_memory = numbers<Matrix<float, 5, 3>>(8);

static_assert(std::is_same_v<decltype(layer(x)), Matrix<float, 3, 4>>);
static_assert(std::is_same_v<decltype(layer(stack(x, x))), Tensor<float, 2, 3, 4>>);

// Nine tokens are more than a block of rows, whatever the port that computes floats one by one.
template <std::size_t Tokens>
constexpr auto wide_x = numbers<Matrix<float, Tokens, 4>>(6);

constexpr void check_self_attention(Check& check, const auto& attention, const auto& input) {
  check_forms(check, plain_forward(attention, input), attention, input);
}

template <class Attention>
constexpr void check_in_place(Check& check, const Attention& attention, const auto& input) {
  typename Attention::Workspace workspace{};
  check_in_place(check, plain_forward(attention, input).out, input, [&](auto& m) { attention.forward(m, m, workspace); });
}

constexpr Test tests[] = {
    everywhere("into an output, with the weights, and nothing beside them, down to one token",
               [](Check& check) {
                 check_self_attention(check, layer, plain_rows<1>(x, 0));
                 check_self_attention(check, layer, x);
                 check_self_attention(check, unmasked, plain_rows<2>(x, 1));
                 check_self_attention(check, square, wide_x<2>);
                 check_self_attention(check, bare, wide_x<2>);
               }),
    everywhere("the output may be the input",
               [](Check& check) {
                 check_in_place(check, square, wide_x<2>);
                 check_in_place(check, bare, wide_x<2>);
               }),
    at_run_time("the output may be the input, over several blocks and items",
                [](Check& check) {
                  check_in_place(check, square, wide_x<5>);
                  check_in_place(check, square, wide_x<9>);
                  check_in_place(check, bare, wide_x<9>);
                  Square::Workspace workspace{};
                  const auto batch = stack(wide_x<9>, numbers<Matrix<float, 9, 4>>(9));
                  check_in_place(check, square(batch), batch, [&](auto& m) { square.forward(m, m, workspace); });
                }),
    at_run_time("the output may be the input under a mask, and of the queries in cross-attention",
                [](Check& check) {
                  Square::Workspace workspace{};
                  const auto sees = [](std::size_t i, std::size_t j) { return j <= i && j != 1; };
                  auto padding = zeros<bool, 9>();
                  padding(1) = true;
                  check_in_place(check, plain_forward(square, wide_x<9>, wide_x<9>, wide_x<9>, sees).out, wide_x<9>,
                                 [&](auto& m) { square.forward(m, BlockMask{padding}, m, workspace); });
                  Bare::Workspace bare_workspace{};
                  check_in_place(check, plain_forward(bare, wide_x<9>, wide_x<3>, wide_x<3>, sees_the_past).out, wide_x<9>,
                                 [&](auto& m) { bare.forward(m, wide_x<3>, wide_x<3>, m, bare_workspace); });
                }),
    everywhere("a batch, item by item",
               [](Check& check) {
                 check_forms(check, batch_of(plain_forward(layer, x), plain_forward(layer, other_x)), layer, stack(x, other_x));
               }),
    everywhere("cross-attention; if causal, it is aligned to the top left",
               [](Check& check) {
                 check_forms(check, plain_forward(unmasked, x, memory, other_memory, sees_everything), unmasked, x, memory, other_memory);
                 check_forward(check, plain_forward(layer, x, memory, memory, sees_the_past).out, layer, x, memory, memory);
                 check_forward(check, plain_forward(layer, memory, x, x, sees_the_past).out, layer, memory, x, x);
               }),
    everywhere("by value: of a sequence, of a batch, in cross-attention",
               [](Check& check) {
                 check.same_bits(layer(hidden(x)), plain_forward(layer, x).out);
                 check.same_bits(layer(hidden(stack(x, other_x))), stack(plain_forward(layer, x).out, plain_forward(layer, other_x).out));
                 check.same_bits(unmasked(hidden(x), memory, memory), plain_forward(unmasked, x, memory, memory, sees_everything).out);
               }),
    at_run_time("a batch in cross-attention",
                [](Check& check) {
                  const auto first = plain_forward(unmasked, x, memory, other_memory, sees_everything);
                  const auto second = plain_forward(unmasked, other_x, other_memory, memory, sees_everything);
                  check_forms(check, batch_of(first, second), unmasked, stack(x, other_x), stack(memory, other_memory),
                              stack(other_memory, memory));
                }),
};

}  // namespace

int main() { return run(tests); }
