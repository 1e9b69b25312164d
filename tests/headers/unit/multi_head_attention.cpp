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

// A head has the weights that it has if its mask is that of all heads.
template <AttentionConfig config, template <std::size_t...> class Mask>
void check_masks_of_heads(Check& check) {
  constexpr std::size_t rows = 7, heads = config.num_heads, of_a_head = rows * rows;
  Called<config, rows> called{};
  const auto masks = drawn<Mask<heads, rows, rows>>(3);
  Tensor<float, heads, rows, rows> weights{}, expected{};
  for (std::size_t first = 0; first < heads * of_a_head; first += of_a_head) {
    Mask<rows, rows> mask{};
    std::copy_n(masks.tensor.elements + first, of_a_head, mask.tensor.elements);
    called.layer.forward_with_weights(called.x, mask, called.out, weights, called.workspace);
    std::copy_n(weights.elements + first, of_a_head, expected.elements + first);
  }
  const auto out = called(called.x, masks);
  called.layer.forward_with_weights(called.x, masks, called.out, weights, called.workspace);
  check.same_bits(weights, expected);
  check.same_bits(out, called.out);
  Matrix<float, rows, config.d_out> counted{};
  check.that(called.layer.forward(called.x, rows, masks, counted, called.workspace) == Status::ok);
  check.same_bits(counted, out);

  const auto others = drawn<Mask<heads, rows, rows>>(4);
  Mask<2 * heads, rows, rows> both{};
  std::copy_n(masks.tensor.elements, masks.tensor.size(), both.tensor.elements);
  std::copy_n(others.tensor.elements, others.tensor.size(), both.tensor.elements + masks.tensor.size());
  Tensor<float, 2, rows, config.d_out> outs{};
  called.layer.forward(stack(called.x, called.x), both, outs, called.workspace);
  check.same_bits(outs, stack(out, called(called.x, others)));
}

// Learned keys and values that are those of tokens in front, which no mask has.
template <AttentionConfig config, template <std::size_t...> class Mask>
void check_bias_kv(Check& check, auto masked) {
  constexpr std::size_t rows = 5, more = config.bias_kv, heads = config.num_heads;
  constexpr AttentionConfig without = [] {
    AttentionConfig of_all = with_bias_kv(config, 0);
    of_all.causal = false;
    return of_all;
  }();
  Called<config, rows> called{};
  Called<without, rows> other{};  // of the same weights
  const auto first = drawn<Matrix<float, more, config.d_in>>(4);
  const auto source = concat_rows(first, called.x);
  called.layer.bias_kv = {other.layer.key(first), other.layer.value(first)};
  const auto masks = drawn<Mask<heads, rows, rows>>(3);
  Mask<heads, rows, more + rows> of_source{};
  for (std::size_t i = 0; i < masks.tensor.size(); ++i) {
    const std::size_t query = i / rows % rows, key = i % rows;
    of_source.tensor(i / rows / rows, query, more + key) = config.causal && key > query ? masked : masks.tensor.elements[i];
  }
  Tensor<float, heads, rows, rows + more> weights{}, expected{};
  other.layer.forward_with_weights(other.x, source, source, of_source, other.out, expected, other.workspace);
  check_output(check, other.out, [&](auto& out) { called.layer.forward(called.x, masks, out, called.workspace); });
  called.layer.forward_with_weights(called.x, masks, called.out, weights, called.workspace);
  for (std::size_t i = 0; i < weights.size(); ++i)
    check.same_bits(weights.elements[i / (more + rows) * (more + rows) + (i + rows) % (more + rows)], expected.elements[i]);
  check.that(called.layer.forward(called.x, called.x, called.x, rows, 0, called.out, called.workspace) == Status::ok);
  check.same_bits(called.out, called(called.x, BlockMask{ones<bool, rows>()}));
  const auto two = drawn<Matrix<float, 2, config.d_in>>(4);
  check.same_bits(called(called.x, two, two, CausalBottomRight{}), called(called.x, two, two, KeepMask{tril(ones<bool, rows, 2>(), -3)}));
}

constexpr auto layer = drawn<Layer>(1);
constexpr auto x = drawn<Matrix<float, 5, 3>>(2);
static_assert(std::is_same_v<decltype(layer(x)), Matrix<float, 5, 4>> &&
              std::is_same_v<decltype(layer(stack(x, x))), Tensor<float, 2, 5, 4>>);

constexpr Test tests[] = {
    everywhere("every form of a call", check_every_form<square, 2>),
    everywhere("step by step: projections, each head, the output projection",
               each_of<check_steps<square, 5>, check_steps<causal, 1>, check_steps<unmasked, 3>, check_steps<bare, 4>>),
    at_run_time("over several blocks, and with weights of int8; rates of dropout are for training passes only",
                each_of<check_every_form<unmasked, 5>, check_every_form<square, 9>, check_every_form<in_int8(square), 9>,
                        check_steps<with_rates, 4>>),
    everywhere("cross-attention; if causal, it is aligned to the top left",
               [](Check& check) {
                 Called<unmasked, 3> free{};
                 Called<causal, 3> aligned{};
                 const auto source = drawn<Matrix<float, 5, 3>>(3);
                 check.same_bits(aligned(aligned.x, source, source),
                                 aligned(aligned.x, source, source, KeepMask{tril(ones<bool, 3, 5>())}));
                 check.that(free(free.x, source, source) != free(free.x, source, source, Causal{}));
                 check.same_bits(free.layer(free.x, source, source), free(free.x, source, source));
               }),
    at_run_time("cross-attention with both counts",
                each_of<check_cross_counts<unmasked, 5, 7>, check_cross_counts<in_int8(causal), 5, 3>, check_cross_counts<bare, 9, 3>>),
    at_run_time("each mask, besides the layer's own; a NaN or infinity in a masked token does not leak",
                each_of<check_masks<unmasked>, check_masks<causal>>),
    at_run_time("a mask for each head, besides the layer's own",
                [](Check& check) {
                  check_masks_of_heads<unmasked, BlockMask>(check);
                  check_masks_of_heads<in_int8(square), KeepMask>(check);
                  check_masks_of_heads<with_window(bare, 3), AdditiveMask>(check);
                  check_masks_of_heads<with_int8_cache(square), BlockMask>(check);
                }),
    at_run_time("learned keys and values, with a mask for each head",
                [](Check& check) {
                  check_bias_kv<with_bias_kv(square, 1), BlockMask>(check, true);
                  check_bias_kv<with_bias_kv(unmasked, 2), AdditiveMask>(check, -infinity);
                  check_bias_kv<in_int8(with_bias_kv(square, 2)), BlockMask>(check, true);
                }),
    at_run_time("attention weights: a call with them has the same output; of a batch, under a mask",
                [](Check& check) {
                  Called<with_rates, 4> called{};
                  Tensor<float, 2, 4, 4> weights{};
                  Matrix<float, 4, 4> out{};
                  called.layer.forward_with_weights(called.x, out, weights, called.workspace);
                  check.same_bits(out, called(called.x));
                  Tensor<float, 2, 2, 4, 4> of_batch{};
                  Tensor<float, 2, 4, 4> outs{};
                  called.layer.forward_with_weights(stack(called.x, called.x), outs, of_batch, called.workspace);
                  check.same_bits(of_batch, stack(weights, weights));
                  called.layer.forward_with_weights(called.x, first_keys<4>(2), out, weights, called.workspace);
                  check.same_bits(out, called(called.x, first_keys<4>(2)));
                  check.that(weights(0, 3, 1) != 0.0f && weights(0, 3, 2) == 0.0f && weights(1, 3, 3) == 0.0f);
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
};

}  // namespace

int main() { return run(tests); }
