// SPDX-License-Identifier: MIT
//
// Attention layers in every form of a call; their members, and errors for wrong counts.
#include "tinyattn/multi_head_attention.hpp"

#include <algorithm>
#include <type_traits>

#include "catalogue/attention.hpp"
#include "catalogue/twin.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

// Whether scratch.h counts the scratch that kernels divide. Both are sums of products of the
// widths, the source tokens, the padded source tokens, and the rows of a block and of queries, each
// to the first power. So they are equal for all sizes if they are for widths and rows of 0 and 1,
// and 0, 1 and 2 source tokens.
consteval bool agree_on_scratch() noexcept {
  float scratch[3 * TINYATTN_LANES + 3] = {};
  for (unsigned sizes = 0; sizes < 3 * 8; ++sizes) {
    const std::size_t width = sizes & 1, kv_width = sizes >> 1 & 1, rows = sizes >> 2 & 1;
    const std::size_t source_tokens = sizes >> 3;
    const auto parts = kernel::parts_of(scratch, width, kv_width, source_tokens, rows, rows);
    if (parts.block.at(rows, 0) != scratch + TINYATTN_GROUPED_LAYER_SCRATCH(width, kv_width, rows, source_tokens)) return false;
  }
  return true;
}
static_assert(agree_on_scratch());

// The same for a row of integers: both round up to a multiple of 16.
consteval bool agree_on_integers() noexcept {
  for (std::size_t inputs = 0; inputs <= 16; ++inputs)
    if (kernel::integer_row(inputs) != TINYATTN_INTEGER_ROW(inputs)) return false;
  return true;
}
static_assert(agree_on_integers());

constexpr AttentionConfig causal{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2};
constexpr AttentionConfig unmasked{.d_in = 3, .d_out = 8, .context_length = 7, .num_heads = 2, .causal = false, .qkv_bias = true};
constexpr AttentionConfig square{.d_in = 4, .d_out = 4, .context_length = 9, .num_heads = 2, .qkv_bias = true};
constexpr AttentionConfig bare{.d_in = 4, .d_out = 4, .context_length = 9, .num_heads = 4, .out_proj = false};
constexpr AttentionConfig with_rates{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2, .dropout = 0.5, .residual_dropout = 0.5};

using Layer = MultiHeadAttention<causal>;
using Square = MultiHeadAttention<square>;
using Bare = MultiHeadAttention<bare>;
using Head = CausalAttention<3, 2, 6>;
using Stacked = StackedCausalAttention<3, 2, 6, 3>;

static_assert(Layer::head_dim == 2 && Bare::head_dim == 1);
static_assert(Layer::parameter_count == 3 * (3 * 4) + 4 * 4 + 4);
static_assert(Square::parameter_count == 3 * (4 * 4 + 4) + 4 * 4 + 4);
static_assert(Bare::parameter_count == 3 * 4 * 4);

// A layer is its parameters and nothing else; absent parts take no space.
static_assert(sizeof(Layer) == Layer::parameter_count * sizeof(float));
static_assert(sizeof(Square) == Square::parameter_count * sizeof(float));
static_assert(sizeof(Bare) == Bare::parameter_count * sizeof(float));
static_assert(sizeof(Stacked) == 3 * sizeof(Head) && std::is_same_v<std::remove_extent_t<decltype(Stacked{}.heads)>, Head>);
static_assert(std::is_aggregate_v<Layer> && std::is_trivially_copyable_v<Layer>);
static_assert(std::is_same_v<decltype(Layer{}.query), Linear<3, 4, false>> && std::is_same_v<decltype(Square{}.query), Linear<4, 4, true>>);
static_assert(std::is_same_v<decltype(Layer{}.out_proj), Linear<4, 4, true>> && std::is_empty_v<decltype(Bare{}.out_proj)>);
static_assert(
    std::is_same_v<SelfAttention<3, 2, 6>,
                   MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 2, .context_length = 6, .causal = false, .out_proj = false}>>);
static_assert(std::is_same_v<Head, MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 2, .context_length = 6, .out_proj = false}>>);

// A workspace holds keys in rows of whole vectors, values, at most 96 rows of projections, and the scores of at most sixteen queries,
// whatever the port.
template <AttentionConfig config>
constexpr bool scratch_is_bounded = sizeof(typename MultiHeadAttention<config>::Workspace) <=
                                    sizeof(float) * ((config.context_length + 15) * config.d_out + config.context_length * config.d_out +
                                                     96 * config.d_out + 16 * (config.context_length + 15));

consteval AttentionConfig of_length(std::size_t context_length) {
  return {.d_in = 64, .d_out = 64, .context_length = context_length, .num_heads = 4};
}
template <std::size_t ContextLength>
using Workspace = typename MultiHeadAttention<of_length(ContextLength)>::Workspace;

static_assert(scratch_is_bounded<of_length(1)> && scratch_is_bounded<of_length(32)> && scratch_is_bounded<of_length(4096)>);
static_assert(scratch_is_bounded<AttentionConfig{.d_in = 512, .d_out = 512, .context_length = 2048, .num_heads = 8}>);
// For twice the tokens the scratch at most doubles: nothing grows with the square of the tokens.
static_assert(sizeof(Workspace<4096>) <= 2 * sizeof(Workspace<2048>) && alignof(Workspace<32>) == alignof(float));

constexpr auto layer = drawn<Layer>(1);
constexpr auto x = drawn<Matrix<float, 5, 3>>(2), other_x = drawn<Matrix<float, 5, 3>>(3);
static_assert(std::is_same_v<decltype(layer(x)), Matrix<float, 5, 4>> &&
              std::is_same_v<decltype(layer(stack(x, x))), Tensor<float, 2, 5, 4>>);

constexpr Test tests[] = {
    everywhere(
        "every form of a call, down to one token: as in plain loops, and nothing next to it",
        as_in_plain_loops<FormsOf<square, 2>, ForwardOf<causal, 1>, ForwardWithWeights<unmasked, 2, 2>, ForwardWithWeights<bare, 2>>),
    at_run_time("over several blocks; rates of dropout are for training passes only",
                as_in_plain_loops<FormsOf<unmasked, 5>, FormsOf<square, 9>, FormsOf<bare, 9>, ForwardOf<with_rates, 4>,
                                  ForwardWithWeights<with_rates, 4>>),
    at_run_time("weights of int8: every form of a call; a NaN or infinity in every bias and input",
                as_in_plain_loops<FormsOf<in_int8(square), 9>, ForwardWithWeights<in_int8(unmasked), 2, 2>,
                                  CrossForms<in_int8(causal), KeepMask<3>, 5, 3>, AnyNotFinite<ForwardOf<in_int8(unmasked), 3>>>),
    everywhere("cross-attention; if causal, it is aligned to the top left",
               as_in_plain_loops<CrossForward<causal, 3, 5>, CrossForward<causal, 5, 3>, CrossForms<unmasked, NoMask, 1, 2>>),
    at_run_time("cross-attention of a batch, with both counts, under masks",
                as_in_plain_loops<CrossForms<unmasked, CausalBottomRight, 5, 7>, CrossForms<causal, KeepMask<3>, 5, 3>,
                                  CrossForms<unmasked, AdditiveMask<5, 7>, 5, 7>, CrossForms<bare, BlockMask<9, 3>, 9, 3>>),
    at_run_time("each mask, besides the layer's own",
                as_in_plain_loops<ForwardMasked<unmasked, NoMask, 5>, ForwardMasked<unmasked, Causal, 5>,
                                  ForwardMasked<unmasked, CausalBottomRight, 5>, ForwardMasked<unmasked, BlockMask<5, 5>, 5>,
                                  ForwardMasked<unmasked, BlockMask<5>, 5>, ForwardMasked<unmasked, KeepMask<5, 5>, 2, 5>,
                                  ForwardMasked<unmasked, KeepMask<5>, 5>, ForwardMasked<unmasked, AdditiveMask<5, 5>, 5>,
                                  ForwardMasked<unmasked, AdditiveMask<5>, 5>, ForwardMasked<causal, CausalBottomRight, 5>,
                                  ForwardMasked<causal, BlockMask<5>, 5>, ForwardMasked<causal, AdditiveMask<5, 5>, 5>>),
    at_run_time("a NaN or infinity in a masked token does not leak",
                as_in_plain_loops<MaskedTokenNotFinite<unmasked>, MaskedTokenNotFinite<causal>>),
    at_run_time(
        "NaN and infinity in every weight, bias and input: as in plain loops",
        as_in_plain_loops<AnyNotFinite<
            ForwardOf<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 3, .num_heads = 2, .causal = false, .qkv_bias = true}, 3>>>),
    everywhere("by value, of a sequence, of a batch, of three inputs",
               [](Check& check) {
                 Layer::Workspace workspace{};
                 Matrix<float, 5, 4> out{};
                 Tensor<float, 2, 5, 4> outs{};
                 layer.forward(opaque(x), out, workspace);
                 check.same_bits(layer(opaque(x)), out);
                 layer.forward(stack(x, other_x), outs, workspace);
                 check.same_bits(layer(opaque(stack(x, other_x))), outs);
                 layer.forward(x, other_x, x, out, workspace);
                 check.same_bits(layer(opaque(x), other_x, x), out);
               }),
    everywhere("a count and a mask; counts that no size reaches; an input longer than context_length",
               [](Check& check) {
                 Layer::Workspace workspace{};
                 Matrix<float, 5, 4> expected = full<float, 5, 4>(Guarded<float>::untouched);
                 const BlockMask mask{drawn<Matrix<bool, 5, 5>>(4)};
                 check.that(layer.forward(x, x, x, std::size_t{3}, std::size_t{3}, mask, expected, workspace) == Status::ok);
                 check_output(check, expected,
                              [&](auto& out) { check.that(layer.forward(x, std::size_t{3}, mask, out, workspace) == Status::ok); });
                 const auto nine = drawn<Matrix<float, 9, 3>>(5);
                 const auto none = full<float, 9, 4>(Guarded<float>::untouched);
                 for (const std::size_t count : {std::size_t{7}, static_cast<std::size_t>(-1)})
                   check_output(check, none, [&](auto& out) {
                     check.that(layer.forward(nine, opaque(count), out, workspace) == Status::too_many_tokens);
                   });
                 Matrix<float, 9, 4> out{};
                 Matrix<float, 5, 3> first_five{};
                 std::copy_n(nine.data(), first_five.size(), first_five.data());
                 check.that(layer.forward(nine, opaque(std::size_t{5}), out, workspace) == Status::ok);
                 check.same_bits(row(out, 4), row(layer(first_five), 4));
               }),
    everywhere("stacked heads lie side by side; one is a layer of its own",
               [](Check& check) {
                 as_in_plain_loops<Forward<Stacked, 3, 6, 5>, Forward<Stacked, 3, 6, 2, 2>>(check);
                 const StackedCausalAttention<3, 2, 6, 1> single{{drawn<Head>(10)}};
                 check.same_bits(single(opaque(x)), single.heads[0](x));
               }),
    everywhere("first weights: stacked heads are drawn one after the other",
               [](Check& check) {
                 Philox4x32 generator(opaque(std::uint64_t{123})), same(123);  // small, on the stack of a small board
                 Stacked stacked{};
                 initialize(stacked, generator);
                 for (const Head& head : stacked.heads) {
                   Head expected{};
                   initialize(expected, same);
                   check.that(head == expected);
                 }
                 check.equal(generator.block(0), same.block(0));
               }),
};

}  // namespace

int main() { return run(tests); }
