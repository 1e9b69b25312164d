// SPDX-License-Identifier: MIT
//
// Layers by the compiled library: the bits of the headers, in every form.
#include "compiled_masks.hpp"
#include "plain_heads.hpp"
#include "support/check.hpp"
#include "tinyattn/compiled.hpp"
#include "tinyattn/multi_head_attention.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

// All of a layer's forms, for `Tokens` tokens.
template <AttentionConfig config, std::size_t Tokens>
void check_layer(Check& check) {
  using Layer = MultiHeadAttention<config>;
  static const auto layer = filled<Layer>(10);
  const auto x = draw<Matrix<float, Tokens, config.d_in>>(11);
  static typename Layer::Workspace workspace;
  static struct {
    compiled::Workspace<Layer> workspace;
    float guard;
  } scratch;
  Guarded<Matrix<float, Tokens, config.d_out>> out;
  Matrix<float, Tokens, config.d_out> expected;
  scratch.guard = out.untouched;
  const auto same = [&] {
    check.same_bits(out.tensor, expected);
    check.that(out.guards_hold());
    check.same_bits(scratch.guard, out.untouched);
  };
  layer.forward(x, expected, workspace);
  compiled::forward(layer, x, out.tensor, scratch.workspace);
  same();
  layer.forward(x, BlockMask{flags<Tokens, Tokens>(12)}, expected, workspace);
  compiled::forward(layer, x, BlockMask{flags<Tokens, Tokens>(12)}, out.tensor, scratch.workspace);
  same();
  layer.forward(x, AdditiveMask{addends<Tokens>(13)}, expected, workspace);
  compiled::forward(layer, x, AdditiveMask{addends<Tokens>(13)}, out.tensor, scratch.workspace);
  same();
  for (std::size_t count = 0; count <= Tokens; ++count) {
    out.tensor = expected;
    check.that(layer.forward(x, count, expected, workspace) == Status::ok);
    check.that(compiled::forward(layer, x, count, out.tensor, scratch.workspace) == Status::ok);
    same();
    check.that(layer.forward(x, count, CausalBottomRight{}, expected, workspace) == Status::ok);
    check.that(compiled::forward(layer, x, count, CausalBottomRight{}, out.tensor, scratch.workspace) == Status::ok);
    same();
  }
  check.that(compiled::forward(layer, x, Tokens + 1, out.tensor, scratch.workspace) == Status::too_many_tokens);
  same();
}

template <AttentionConfig config, std::size_t Tokens, std::size_t SourceTokens>
void check_cross(Check& check) {
  using Layer = MultiHeadAttention<config>;
  static const auto layer = filled<Layer>(10);
  const auto query_input = draw<Tensor<float, 2, Tokens, config.d_in>>(11);
  const auto key_input = draw<Tensor<float, 2, SourceTokens, config.d_in>>(12);
  const auto value_input = draw<Tensor<float, 2, SourceTokens, config.d_in>>(13);
  static compiled::Workspace<Layer> workspace;
  Tensor<float, 2, Tokens, config.d_out> out;
  compiled::forward(layer, query_input, key_input, value_input, CausalBottomRight{}, out, workspace);
  typename Layer::Workspace header_workspace;
  Tensor<float, 2, Tokens, config.d_out> expected;
  layer.forward(query_input, key_input, value_input, CausalBottomRight{}, expected, header_workspace);
  check.same_bits(out, expected);
  layer.forward(query_input, key_input, value_input, expected, header_workspace);
  compiled::forward(layer, query_input, key_input, value_input, out, workspace);
  check.same_bits(out, expected);
  // Rows behind a count stay as they are.
  const KeepMask keep{row(flags<1, SourceTokens>(14), 0)};
  for (std::size_t count = 0; count <= Tokens; ++count)
    for (std::size_t source_count = 0; source_count <= SourceTokens; ++source_count) {
      check.that(layer.forward(query_input, key_input, value_input, count, source_count, expected, header_workspace) == Status::ok);
      check.that(compiled::forward(layer, query_input, key_input, value_input, count, source_count, out, workspace) == Status::ok);
      check.same_bits(out, expected);
      check.that(layer.forward(query_input, key_input, value_input, count, source_count, keep, expected, header_workspace) == Status::ok);
      check.that(compiled::forward(layer, query_input, key_input, value_input, count, source_count, keep, out, workspace) == Status::ok);
      check.same_bits(out, expected);
    }
  check.that(compiled::forward(layer, query_input, key_input, value_input, 1, SourceTokens + 1, out, workspace) == Status::too_many_tokens);
  check.same_bits(out, expected);
}

constexpr AttentionConfig small{.d_in = 3, .d_out = 4, .context_length = 7, .num_heads = 2};
constexpr AttentionConfig biased{.d_in = 5, .d_out = 9, .context_length = 6, .num_heads = 3, .causal = false, .qkv_bias = true};
constexpr AttentionConfig without_projection{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 1, .out_proj = false};
constexpr AttentionConfig without_out_bias{.d_in = 4, .d_out = 6, .context_length = 9, .num_heads = 1, .out_bias = false};

constexpr Test tests[] = {
    at_run_time("layers with and without biases, projection and a causal mask",
                [](Check& check) {
                  check_layer<small, 7>(check);
                  check_layer<biased, 6>(check);
                  check_layer<without_projection, 5>(check);
                  check_layer<without_out_bias, 9>(check);
                }),
    at_run_time("cross-attention, in batches",
                [](Check& check) {
                  check_cross<biased, 6, 4>(check);
                  check_cross<small, 2, 5>(check);
                  check_cross<small, 5, 2>(check);
                }),
    at_run_time("the output may be the input",
                [](Check& check) {
                  using Layer = MultiHeadAttention<without_projection>;
                  const auto layer = filled<Layer>(10);
                  auto x = draw<Matrix<float, 6, 8>>(14);
                  const auto expected = layer(x);
                  compiled::Workspace<Layer> workspace;
                  compiled::forward(layer, x, x, workspace);
                  check.same_bits(x, expected);
                }),
};

}  // namespace

int main() { return run(tests); }
