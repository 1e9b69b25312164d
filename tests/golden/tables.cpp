// SPDX-License-Identifier: MIT
//
// "Your journey starts with one step": six tokens of three features, step by step as in the specification; and the activations.
#include "activations.hpp"
#include "tinyattn/activation.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/convolution.hpp"
#include "tinyattn/dropout.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/pooling.hpp"
#include "tinyattn/randn.hpp"
#include "tinyattn/recurrent.hpp"
#include "tinyattn/softmax.hpp"
#include "values.hpp"

namespace tinyattn::test { namespace {

namespace torch = tinyattn::reference;

constexpr std::uint32_t seed = 123;  // of all layers except v2's, which are drawn from 789
constexpr float scale = 1.0f / tinyattn::sqrt(2.0f);

constexpr auto inputs() { return opaque(torch::inputs); }

template <class Module>
constexpr Module drawn(Mt19937& generator) {
  Module module{};
  initialize(module, generator);
  return module;
}

// Checks weights and output of one call.
constexpr void check_attention(Check& check, const auto& weights, const auto& context, const auto& query, const auto& key,
                               const auto& value, const auto& mask) {
  auto out = context;
  auto weights_out = weights;
  scaled_dot_product_attention(query, key, value, mask, out, weights_out);
  check.near(out, context, tolerance);
  check.near(weights_out, weights, tolerance);
}

// Checks a layer, drawn from `seed`, on a batch of twice the same tokens.
template <class Layer>
constexpr void check_batch(Check& check, const auto& expected) {
  Mt19937 generator(opaque(seed));
  check.near(drawn<Layer>(generator)(stack(inputs(), inputs())), expected, tolerance);
}

constexpr void check_tokens_themselves(Check& check) {
  const auto scores = matmul_transposed(inputs(), inputs());
  check.near(dot(row(inputs(), 1), row(inputs(), 2)), torch::simple_scores(1, 2), tolerance);
  check.near(matmul_transposed(row(inputs(), 1), inputs()), row(torch::simple_scores, 1), tolerance);
  check.near(matmul(inputs(), transpose(inputs())), torch::simple_scores, tolerance);
  check.near(scores, torch::simple_scores, tolerance);
  check.near(normalize(row(scores, 1)), torch::simple_normalized, tolerance);
  check.near(softmax_naive(scores), torch::simple_weights, tolerance);
  check.near(softmax(scores), torch::simple_weights, tolerance);
  check.near(matmul(softmax(scores), inputs()), torch::simple_context, tolerance);
}

constexpr void check_matrices(Check& check) {
  Mt19937 generator(opaque(seed));
  const auto query = rand<3, 2>(generator), key = rand<3, 2>(generator), value = rand<3, 2>(generator);
  check.same_bits(query, torch::v1_w_query);
  check.same_bits(key, torch::v1_w_key);
  check.same_bits(value, torch::v1_w_value);
  const auto keys = matmul(inputs(), key), values = matmul(inputs(), value);
  check.near(keys, torch::v1_keys, tolerance);
  check.near(values, torch::v1_values, tolerance);
  const auto query_of_token_2 = matmul(row(inputs(), 1), query);
  const auto scores = matmul_transposed(query_of_token_2, keys);
  check.near(query_of_token_2, torch::v1_query_of_token_2, tolerance);
  check.near(scores, torch::v1_scores_of_token_2, tolerance);
  check.near(softmax(scores, scale), torch::v1_weights_of_token_2, tolerance);
  check.near(matmul(softmax(scores, scale), values), row(torch::v1_context, 1), tolerance);
  check.near(scaled_dot_product_attention(matmul(inputs(), query), keys, values), torch::v1_context, tolerance);
}

constexpr void check_linear_layers(Check& check) {
  Mt19937 generator(opaque(789u));
  const auto layer = drawn<SelfAttention<3, 2, 6>>(generator);
  check.same_bits(layer.query.weight, transpose(torch::v2_query));
  check.same_bits(layer.key.weight, from_torch(torch::v2_key).weight);
  check.same_bits(layer.value.weight, from_torch(torch::v2_value).weight);
  check.near(layer(inputs()), torch::v2_context, tolerance);
  const auto queries = layer.query(inputs()), keys = layer.key(inputs()), values = layer.value(inputs());
  check.near(matmul_transposed(queries, keys), torch::v2_scores, tolerance);
  check_attention(check, torch::v2_weights, torch::v2_context, queries, keys, values, NoMask{});
  check_attention(check, torch::causal_weights, matmul(torch::causal_weights, values), queries, keys, values, Causal{});
}

constexpr void check_causal_mask(Check& check) {
  const auto scores = opaque(torch::v2_scores);
  check.same_bits(tril(ones<float, 6, 6>()), torch::tril_of_ones);
  check.same_bits(causal_mask<4>(), torch::causal_mask_4);
  const auto weights = tril(softmax(scores, scale));
  check.near(weights, torch::tril_of_weights, tolerance);
  check.near(normalize(weights), torch::renormalized, tolerance);
  const auto halved = softmax(scores, 0.5f / 2.0f);
  check.near(halved, torch::halved, tolerance);
  check.near(normalize(tril(halved)), torch::halved_renormalized, tolerance);
  const auto masked = masked_fill(scores, triu(ones<bool, 6, 6>(), 1), -torch::infinity);
  check.same_bits(masked, torch::masked_scores);
  check.near(softmax(masked, scale), torch::causal_weights, tolerance);
  check.near(softmax(masked, scale), torch::renormalized, tolerance);
}

constexpr void check_heads(Check& check) {
  check_batch<CausalAttention<3, 2, 6>>(check, torch::causal_attention);
  check_batch<SelfAttention<3, 2, 6>>(check, torch::self_attention);
  check_batch<StackedCausalAttention<3, 2, 6, 2>>(check, torch::stacked_heads);
  check_batch<MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 2, .context_length = 6, .num_heads = 2}>>(check, torch::split_heads);
  Mt19937 generator(opaque(seed));
  const auto first = drawn<SelfAttention<3, 2, 6>>(generator), second = drawn<SelfAttention<3, 2, 6>>(generator);
  check.near(concat_columns(first(inputs()), second(inputs())), torch::two_heads, tolerance);
}

constexpr void check_fruit(Check& check) {
  const auto query = opaque(torch::fruit_q);
  const auto key = opaque(torch::fruit_k), value = opaque(torch::fruit_v);
  const auto scores = matmul_transposed(query, key);
  check.near(scores, torch::fruit_scores, tolerance);
  check.near(softmax(scores), torch::fruit_weights_unscaled, tolerance);
  check_attention(check, torch::fruit_weights, torch::fruit_context, query, key, value, NoMask{});
}

// PyTorch rounds the angles to float, hence a tolerance.
constexpr void check_normal_numbers(Check& check) {
  Mt19937 generator(opaque(seed));
  check.near(randn<32>(generator), torch::normal_32, 3e-6f);
  check.near(randn<37>(generator), torch::normal_37, 3e-6f);
}

constexpr void check_dropout(Check& check) {
  Mt19937 of_ones(opaque(seed)), of_weights(opaque(seed));
  check.same_bits(dropout(opaque(ones<float, 6, 6>()), 0.5, of_ones), torch::dropout_of_ones);
  check.same_bits(dropout(opaque(torch::causal_weights), 0.5, of_weights), torch::dropout_of_causal_weights);
}

constexpr void check_activations(Check& check) {
  constexpr float near_one = 2.5e-7f;  // some units in the last place of a number near 1
  const auto near = [&](const auto& values, const auto& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      check.near(values(i), expected(i), expected(i) > 1.0f ? near_one * expected(i) : near_one);
  };
  const auto x = opaque(torch::activation_x);
#define CHECK(name, NAME, formula) near(name(x), torch::activation_##name);
  TINYATTN_ACTIVATIONS(CHECK)
#undef CHECK
  for (std::size_t i = 0; i < x.size(); ++i) {
    check.near(tanh(x(i)), torch::activation_tanh(i), near_one);
    check.near(erf(x(i)), torch::activation_erf(i), near_one);
  }
}

constexpr void check_over_tokens(Check& check) {
  constexpr Conv1dConfig config = {.in = 3, .out = 4, .kernel = 3, .stride = 2, .padding = 1};
  Mt19937 generator(opaque(seed));
  const auto layer = drawn<Conv1d<config>>(generator);
  check.that(layer == from_torch<config>(torch::conv1d_weight, torch::conv1d_bias));
  check.near(layer(inputs()), torch::conv1d_out, tolerance);
  check.near(mean(inputs()), torch::mean_of_inputs, tolerance);
  check.same_bits(largest(inputs()), torch::largest_of_inputs);
  check.near(standardize(inputs(), torch::mean_of_inputs, torch::inverse_deviation), torch::standardized, tolerance);
}

template <template <RecurrentConfig> class Kind>
constexpr void check_recurrent(Check& check, const auto& expected, const auto&... tensors) {
  constexpr RecurrentConfig config = {.in = 3, .hidden = 4};
  Mt19937 generator(opaque(seed));
  const auto layer = drawn<Kind<config>>(generator);
  check.that(layer == from_torch<config>(tensors...));
  typename Kind<config>::State state{};
  typename Kind<config>::Workspace workspace;
  Matrix<float, 6, 4> out;
  layer.forward(inputs(), state, out, workspace);
  check.near(out, expected, tolerance);
}

constexpr void check_biased(Check& check) {
  constexpr AttentionConfig config = {
      .d_in = 3, .d_out = 3, .context_length = 6, .num_heads = 3, .causal = false, .out_bias = false, .bias_kv = 2};
  using Layer = MultiHeadAttention<config>;
  constexpr auto zero = zeros<float, 1, 3>();
  const Layer layer{.query = from_torch(torch::biased_query),
                    .key = from_torch(torch::biased_key),
                    .value = from_torch(torch::biased_value),
                    .out_proj = from_torch(torch::biased_projection),
                    .bias_kv = {concat_rows(torch::biased_k, zero), concat_rows(torch::biased_v, zero)}};
  Layer::Workspace workspace;
  auto out = torch::biased_out;
  auto weights = torch::biased_weights;
  layer.forward_with_weights(inputs(), AdditiveMask{torch::biased_mask}, out, weights, workspace);
  check.near(out, torch::biased_out, tolerance);
  check.near(weights, torch::biased_weights, tolerance);
}

// An example of a firmware's check that its model stays within a budget; and the parameters and bytes of three common sizes.
constexpr std::size_t kilobyte = 1024;
template <std::size_t Width, std::size_t ContextLength, std::size_t NumHeads>
using Sized = MultiHeadAttention<AttentionConfig{
    .d_in = Width, .d_out = Width, .context_length = ContextLength, .num_heads = NumHeads, .out_bias = false}>;
static_assert(sizeof(Sized<64, 32, 4>) + sizeof(Sized<64, 32, 4>::Workspace) <= 96 * kilobyte);
static_assert(Sized<64, 32, 4>::parameter_count == 16'384 && sizeof(Sized<64, 32, 4>) == 64 * kilobyte);
static_assert(Sized<256, 256, 8>::parameter_count == 262'144 && sizeof(Sized<256, 256, 8>) == 1'024 * kilobyte);
static_assert(Sized<512, 512, 8>::parameter_count == 1'048'576 && sizeof(Sized<512, 512, 8>) == 4'096 * kilobyte);

constexpr Test tests[] = {
    everywhere("tokens themselves: scores, weights and contexts", check_tokens_themselves),
    everywhere("three matrices are drawn bit for bit, and make queries, keys and values", check_matrices),
    everywhere("three Linear layers are drawn bit for bit, and one call does all", check_linear_layers),
    everywhere("causal masks by tril and a second normalization, and by triu and -infinity", check_causal_mask),
    everywhere("a batch of two: one head, stacked heads, split heads", check_heads),
    everywhere("fruit asks apple, banana and car", check_fruit),
    everywhere("randn draws the numbers of torch.randn", check_normal_numbers),
    everywhere("dropout drops the elements that PyTorch drops", check_dropout),
    everywhere("tanh, erf and the activations", check_activations),
    everywhere("a convolution is drawn bit for bit, and convolves; means, maxima and scaled samples of tokens", check_over_tokens),
    everywhere("learned keys and values, a key of zeros, and a mask for each head", check_biased),
    everywhere("a GRU and an LSTM are drawn bit for bit, and read tokens",
               [](Check& check) {
                 check_recurrent<Gru>(check, torch::gru_out, torch::gru_weight_ih_l0, torch::gru_weight_hh_l0, torch::gru_bias_ih_l0,
                                      torch::gru_bias_hh_l0);
                 check_recurrent<Lstm>(check, torch::lstm_out, torch::lstm_weight_ih_l0, torch::lstm_weight_hh_l0, torch::lstm_bias_ih_l0,
                                       torch::lstm_bias_hh_l0);
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
