// SPDX-License-Identifier: MIT
//
// Attention layers in every form of a call; their members, and errors for wrong counts.
#include "tinyattn/multi_head_attention.hpp"

#include <algorithm>
#include <type_traits>

#include "catalogue/attention.hpp"
#include "forms.hpp"
#include "tinyattn/arithmetic.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

// Whether scratch.h counts the scratch that kernels divide. Both are polynomials in the widths, the source tokens (plain and padded) and
// the rows of a block and of queries, of degree 1 in each. So they agree for all sizes if they do for widths and rows of 0 and 1, and 0, 1
// and 2 source tokens.
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

// The same for a row of integers, which both round up to a multiple of 16.
consteval bool agree_on_integers() noexcept {
  for (std::size_t inputs = 0; inputs <= 16; ++inputs)
    if (kernel::integer_row(inputs) != TINYATTN_INTEGERS(1, inputs)) return false;
  return true;
}
static_assert(agree_on_integers());

constexpr AttentionConfig causal{.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2};
constexpr AttentionConfig unmasked{.d_in = 3, .d_out = 8, .context_length = 7, .num_heads = 2, .causal = false, .qkv_bias = true};
constexpr AttentionConfig square{.d_in = 4, .d_out = 4, .context_length = 9, .num_heads = 2, .qkv_bias = true};
constexpr AttentionConfig bare{.d_in = 4, .d_out = 4, .context_length = 9, .num_heads = 4, .out_proj = false};
constexpr AttentionConfig of_wide_source{
    .d_in = 5, .d_out = 12, .context_length = 17, .num_heads = 4, .causal = false, .num_kv_heads = 2, .d_key = 7, .d_value = 18};
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

// A workspace holds keys in rows of whole vectors, values, at most 96 rows of projections, and scores of at most sixteen queries, with any
// port.
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
// For twice the tokens the workspace at most doubles: nothing is quadratic in the number of tokens.
static_assert(sizeof(Workspace<4096>) <= 2 * sizeof(Workspace<2048>) && alignof(Workspace<32>) == alignof(float));

// A layer whose input and output have `Rows` rows.
template <AttentionConfig config, std::size_t Rows>
struct Called {
  using Layer = MultiHeadAttention<config>;
  Layer layer = drawn<Layer>(1);
  Matrix<float, Rows, config.d_in> x = drawn<Matrix<float, Rows, config.d_in>>(2);
  Matrix<float, Rows, config.d_out> out{};
  typename Layer::Workspace workspace{};

  constexpr auto operator()(const auto&... inputs) {
    layer.forward(inputs..., out, workspace);
    return out;
  }
};

template <AttentionConfig config, std::size_t Rows>
constexpr void check_every_form(Check& check) {
  Called<config, Rows> called{};
  check_layer_forms(check, called.layer, called.x, called.out, called.workspace);
  check_counts(check, called.layer, called.x, called.out, called.workspace);
}

// Computes each head by attention alone, puts them side by side, and projects.
template <AttentionConfig config, std::size_t Rows>
constexpr void check_steps(Check& check) {
  Called<config, Rows> called{};
  const auto& layer = called.layer;
  const auto x = opaque(called.x);
  const auto query = layer.query(x), key = layer.key(x), value = layer.value(x);
  constexpr std::size_t dim = config.d_out / config.num_heads;
  Matrix<float, Rows, config.d_out> context{};
  for (std::size_t head = 0; head < config.num_heads; ++head) {
    const auto of_head = [&](auto& m) { return columns<dim>(m, head * dim); };
    auto out = of_head(context);
    if constexpr (config.causal)
      scaled_dot_product_attention(of_head(query), of_head(key), of_head(value), Causal{}, out);
    else
      scaled_dot_product_attention(of_head(query), of_head(key), of_head(value), NoMask{}, out);
  }
  if constexpr (config.out_proj)
    check.same_bits(called(x), layer.out_proj(context));
  else
    check.same_bits(called(x), context);
}

// Keys and values of other widths, in columns of one tensor, are what their projections compute.
template <AttentionConfig config>
void check_other_sources(Check& check) {
  MultiHeadAttention<config> layer = drawn<MultiHeadAttention<config>>(1);
  typename MultiHeadAttention<config>::Workspace workspace;
  const auto x = drawn<Matrix<float, 5, config.d_in>>(2);
  const auto source = drawn<Matrix<float, 9, 18>>(3);
  const auto keys = columns<7>(source, 0);
  const auto query = layer.query(x);
  const auto key = layer.key(keys);
  const auto value = layer.value(source);
  Matrix<float, 5, config.d_out> context{};
  for (std::size_t head = 0; head < config.num_heads; ++head) {
    auto out = columns<3>(context, head * 3);
    scaled_dot_product_attention(columns<3>(query, head * 3), columns<3>(key, head / 2 * 3), columns<3>(value, head / 2 * 3), NoMask{},
                                 out);
  }
  check_output(check, layer.out_proj(context), [&](auto& out) { layer.forward(x, keys, source, out, workspace); });
}

// Cross-attention of the first queries to the first keys and values; later rows are neither read nor written.
template <AttentionConfig config, std::size_t Tokens, std::size_t SourceTokens>
void check_cross_counts(Check& check) {
  Called<config, Tokens> called{};
  const auto source = drawn<Matrix<float, SourceTokens, config.d_in>>(3);
  for (std::size_t tokens = 0; tokens <= Tokens + 1; ++tokens)
    for (std::size_t sources = 0; sources <= SourceTokens + 1; ++sources) {
      const bool fits = tokens <= Tokens && sources <= SourceTokens;
      const auto expected =
          with_rest(called(called.x, source, source, first_keys<SourceTokens>(sources)), fits ? tokens : 0, Guarded<float>::untouched);
      const auto x = with_rest(called.x, tokens, quiet_nan);
      const auto given = with_rest(source, sources, quiet_nan);
      check_output(check, expected, [&](auto& out) {
        check.that(called.layer.forward(x, given, given, opaque(tokens), opaque(sources), out, called.workspace) ==
                   (fits ? Status::ok : Status::too_many_tokens));
      });
    }
}

// Each mask on top of the layer's own: equivalent masks give equal results, and NaN or infinity in a masked token does not leak.
template <AttentionConfig config>
void check_masks(Check& check) {
  Called<config, 5> called{};
  const auto x = opaque(called.x);
  const auto keep = vector<bool>({true, true, false, true, true});
  const auto kept = called(x, KeepMask{keep});
  check.same_bits(called(x, BlockMask{masked_fill(ones<bool, 5>(), keep, false)}), kept);
  check.same_bits(called(x, AdditiveMask{masked_fill(full<float, 5>(-infinity), keep, 0.0f)}), kept);
  check.same_bits(called(x, Causal{}), called(x, KeepMask{tril(ones<bool, 5, 5>())}));
  check.same_bits(called(x, CausalBottomRight{}), called(x, Causal{}));
  check.same_bits(called(x, NoMask{}), called(x));
  if (!config.causal) check.that(called(x) != called(x, Causal{}));
  for (const float poison : {quiet_nan, infinity, -infinity}) {
    auto poisoned = called.x;
    for (std::size_t j = 0; j < config.d_in; ++j) poisoned(2, j) = poison;
    const auto out = called(opaque(poisoned), KeepMask{keep});
    for (const std::size_t i : {0u, 1u, 3u, 4u}) check.same_bits(row(out, i), row(kept, i));
  }
}

constexpr auto layer = drawn<Layer>(1);
constexpr auto x = drawn<Matrix<float, 5, 3>>(2), other_x = drawn<Matrix<float, 5, 3>>(3);
static_assert(std::is_same_v<decltype(layer(x)), Matrix<float, 5, 4>> &&
              std::is_same_v<decltype(layer(stack(x, x))), Tensor<float, 2, 5, 4>>);

constexpr Test tests[] = {
    everywhere("every form of a call", check_every_form<square, 2>),
    everywhere("step by step: projections, each head, the output projection",
               [](Check& check) {
                 check_steps<square, 5>(check);
                 check_steps<causal, 1>(check);
                 check_steps<unmasked, 3>(check);
                 check_steps<bare, 4>(check);
               }),
    at_run_time("over several blocks, and with weights of int8; rates of dropout are for training passes only",
                [](Check& check) {
                  check_every_form<unmasked, 5>(check);
                  check_every_form<square, 9>(check);
                  check_every_form<in_int8(square), 9>(check);
                  check_steps<with_rates, 4>(check);
                }),
    everywhere("cross-attention; if causal, it is aligned to the top left",
               [](Check& check) {
                 Called<unmasked, 3> free{};
                 Called<causal, 3> aligned{};
                 const auto source = drawn<Matrix<float, 5, 3>>(3);
                 check.same_bits(aligned(aligned.x, source, source),
                                 aligned(aligned.x, source, source, KeepMask{tril(ones<bool, 3, 5>())}));
                 check.that(free(free.x, source, source) != free(free.x, source, source, Causal{}));
               }),
    at_run_time("cross-attention with both counts",
                [](Check& check) {
                  check_cross_counts<unmasked, 5, 7>(check);
                  check_cross_counts<in_int8(causal), 5, 3>(check);
                  check_cross_counts<bare, 9, 3>(check);
                }),
    at_run_time("keys and values of other widths, from one tensor",
                [](Check& check) {
                  check_other_sources<of_wide_source>(check);
                  check_other_sources<in_int8(of_wide_source)>(check);
                }),
    at_run_time("each mask, besides the layer's own; a NaN or infinity in a masked token does not leak",
                [](Check& check) {
                  check_masks<unmasked>(check);
                  check_masks<causal>(check);
                }),
    at_run_time("attention weights of each head, before dropout",
                [](Check& check) {
                  Called<with_rates, 4> called{};
                  Tensor<float, 2, 4, 4> weights{};
                  Matrix<float, 4, 4> out{};
                  called.layer.forward_with_weights(called.x, out, weights, called.workspace);
                  check.same_bits(out, called(called.x));
                  const auto query = called.layer.query(called.x), key = called.layer.key(called.x), value = called.layer.value(called.x);
                  Matrix<float, 4, 2> context{};
                  Matrix<float, 4, 4> of_head{};
                  scaled_dot_product_attention(columns<2>(query, 2), columns<2>(key, 2), columns<2>(value, 2), Causal{}, context, of_head);
                  for (std::size_t i = 0; i < 16; ++i) check.same_bits(weights.elements[16 + i], of_head.elements[i]);
                  Tensor<float, 2, 2, 4, 4> of_batch{};
                  Tensor<float, 2, 4, 4> outs{};
                  called.layer.forward_with_weights(stack(called.x, called.x), outs, of_batch, called.workspace);
                  check.same_bits(of_batch, stack(weights, weights));
                  called.layer.forward_with_weights(called.x, first_keys<4>(2), out, weights, called.workspace);
                  check.same_bits(out, called(called.x, first_keys<4>(2)));
                  check.that(weights(0, 3, 1) != 0.0f && weights(0, 3, 2) == 0.0f && weights(1, 3, 3) == 0.0f);
                }),
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
                 const auto stacked = drawn<Stacked>(9);
                 const auto together = stacked(opaque(x));
                 for (std::size_t head = 0; head < 3; ++head)
                   check.same_bits(multiply(columns<2>(together, 2 * head), 1.0f), stacked.heads[head](x));
                 check.same_bits(stacked(stack(x, x)), stack(together, together));
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
