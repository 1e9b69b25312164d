// SPDX-License-Identifier: MIT
//
// Blocks and transformers in every form of a call.
#include <type_traits>

#include "catalogue/case.hpp"
#include "catalogue/workloads.hpp"
#include "divided.hpp"
#include "forms.hpp"
#include "tinyattn/arithmetic.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr BlockConfig odd{.attention = {.d_in = 12, .d_out = 12, .context_length = 11, .num_heads = 4, .out_proj = false},
                          .feed_forward = {.d_model = 12, .d_hidden = 3, .activation = Activation::relu, .gated = true},
                          .normalization = Normalization::rms,
                          .norm_first = false};
constexpr BlockConfig seeing{.attention = {.d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2, .causal = false},
                             .feed_forward = {.d_model = 4, .d_hidden = 6, .activation = Activation::gelu_tanh},
                             .norm_first = false};

constexpr BlockConfig attention_in_int8{.attention = in_int8(with_biases), .feed_forward = gelu_part};
constexpr BlockConfig hidden_in_int8{.attention = grouped, .feed_forward = in_int8(gated_part)};

using Gpt = TransformerBlock<layer_first>;
using Post = TransformerBlock<norm_last>;
using Llama = TransformerBlock<rms_first>;
using Odd = TransformerBlock<odd>;
using Decoder = Transformer<TransformerConfig{.block = rms_first, .num_layers = 3}>;
using WithoutNorm = Transformer<TransformerConfig{.block = norm_last, .num_layers = 2, .final_norm = false}>;
using Encoder = Transformer<TransformerConfig{.block = seeing, .num_layers = 2}>;

static_assert(Gpt::parameter_count == 2 * 24 + 4 * (12 * 12 + 12) + 12 * 33 + 33 + 33 * 12 + 12);
static_assert(Llama::parameter_count == 2 * 12 + 2 * 12 * 12 + 12 + 2 * 12 * 4 + 3 * 12 * 20);
static_assert(Decoder::parameter_count == 3 * Llama::parameter_count + 12);
static_assert(WithoutNorm::parameter_count == 2 * Post::parameter_count);
static_assert(sizeof(Gpt) == sizeof(float) * (Gpt::parameter_count + 2) &&
              sizeof(Decoder) == sizeof(float) * (Decoder::parameter_count + 7));
static_assert(std::is_aggregate_v<Decoder> && std::is_trivially_copyable_v<Decoder>);

// All blocks share a workspace; each block has a cache.
static_assert(sizeof(Decoder::Workspace) == sizeof(Llama::Workspace));
static_assert(sizeof(Decoder::Cache::Workspace) == sizeof(Llama::Cache::Workspace));
static_assert(sizeof(Decoder::Cache) == 3 * sizeof(Llama::Cache));
static_assert(sizeof(Llama::Cache) <= 2 * 2 * 2 * 9 * sizeof(float) + sizeof(std::size_t));

// d_hidden so large that the feed-forward part needs more scratch than attention, for a whole block of rows: the compiler evaluates with
// the scalar port, whose blocks may have more rows than the port for which the workspace is sized.
constexpr BlockConfig wide_hidden{.attention = {.d_in = 4, .d_out = 4, .context_length = 4, .out_proj = false},
                                  .feed_forward = {.d_model = 4, .d_hidden = 64, .gated = true}};
constexpr float last_of_ones() {
  const TransformerBlock<wide_hidden> block{};
  TransformerBlock<wide_hidden>::Workspace workspace{};
  auto features = ones<float, 4, 4>();
  block.forward(features, features, workspace);
  return features(3, 3);
}
static_assert(last_of_ones() == 1.0f);

template <class Module, std::size_t Rows>
void check_forms(Check& check) {
  static Module module;
  static typename Module::Workspace workspace;
  module = drawn<Module>(1);
  Matrix<float, Rows, 12> out{};
  check_layer_forms(check, module, drawn<Matrix<float, Rows, 12>>(2), out, workspace);
  check_counts(check, module, drawn<Matrix<float, Rows, 12>>(2), out, workspace);
}

template <BlockConfig config, std::size_t Rows>
void check_parts(Check& check) {
  using Block = TransformerBlock<config>;
  static Block block;
  static typename Block::Workspace workspace;
  static typename MultiHeadAttention<config.attention>::Workspace of_attention;
  static typename FeedForward<config.feed_forward>::Workspace of_hidden;
  block = drawn<Block>(1);
  const auto x = drawn<Matrix<float, Rows, 12>>(2);
  Matrix<float, Rows, 12> out{}, change{};
  const auto with_residual = [&](const auto& norm, const auto& part, auto& scratch) {
    part.forward(config.norm_first ? norm(out) : out, change, scratch);
    out = config.norm_first ? add(out, change) : norm(add(out, change));
  };
  out = x;
  with_residual(block.attention_norm, block.attention, of_attention);
  with_residual(block.feed_forward_norm, block.feed_forward, of_hidden);
  block.forward(x, change, workspace);
  check.same_bits(change, out);
}

constexpr Test tests[] = {
    at_run_time("norm first or last, gated, no output projection, heads that share keys; block after block, with a final norm and without",
                [](Check& check) {
                  check_forms<Gpt, 5>(check);
                  check_forms<Odd, 11>(check);
                  check_forms<Decoder, 9>(check);
                  check_forms<WithoutNorm, 5>(check);
                  check_forms<TransformerBlock<hidden_in_int8>, 9>(check);
                }),
    at_run_time("a prompt in one call, in two or token by token",
                all<Divided<Gpt, 5, 12>, Divided<Odd, 11, 12>, Divided<Decoder, 9, 12>, Divided<WithoutNorm, 5, 12>>),
    at_run_time("the same with weights of int8 in all layers, and in one kind of layer",
                all<Divided<TransformerBlock<in_int8(odd)>, 11, 12>, Divided<TransformerBlock<attention_in_int8>, 5, 12>>),
    at_run_time("a block is its parts, one after the other",
                [](Check& check) {
                  check_parts<layer_first, 5>(check);
                  check_parts<norm_last, 5>(check);
                  check_parts<rms_first, 9>(check);
                }),
    everywhere("an encoder, in the compiler; a mask masks keys in all blocks, and a NaN in one of them does not leak",
               [](Check& check) {
                 const auto encoder = drawn<Encoder>(4);
                 auto x = drawn<Matrix<float, 3, 4>>(5);
                 Matrix<float, 2, 4> expected{};
                 Encoder::Workspace scratch{};
                 encoder.forward(opaque(stack(row(x, 0), row(x, 1))), expected, scratch);
                 if (!std::is_constant_evaluated())
                   for (std::size_t j = 0; j < 4; ++j) x(2, j) = quiet_nan;
                 Matrix<float, 3, 4> out{};
                 encoder.forward(opaque(x), BlockMask{vector<bool>({false, false, true})}, out, scratch);
                 for (std::size_t i = 0; i < 2; ++i) check.same_bits(row(out, i), row(expected, i));
               }),
};

}  // namespace

int main() { return run(tests); }
