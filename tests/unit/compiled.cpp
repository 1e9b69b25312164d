// SPDX-License-Identifier: MIT
//
// The compiled library computes the bits of the headers, and leaves what is not its output alone.
#include "tinyattn/compiled.hpp"

#include "plain_heads.hpp"
#include "support/check.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/softmax.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

template <class Shape>
Shape draw(std::uint32_t seed) {
  return hidden(numbers<Shape>(seed));
}

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
void multiply(Check& check) {
  const auto a = draw<Matrix<float, Rows, Inner>>(1);
  const auto b = draw<Matrix<float, Inner, Cols>>(2);
  Guarded<Matrix<float, Rows, Cols>> out, out_of_transposed;
  compiled::matmul(a, b, out.tensor);
  check.same_bits(out.tensor, matmul(a, b));
  compiled::matmul_transposed(a, transpose(b), out_of_transposed.tensor);
  check.same_bits(out_of_transposed.tensor, out.tensor);
  check.that(out.guards_hold() && out_of_transposed.guards_hold());
}

template <std::size_t Rows, std::size_t Cols>
void check_softmax(Check& check) {
  const auto m = draw<Matrix<float, Rows, Cols>>(6);
  Guarded<Matrix<float, Rows, Cols>> out;
  compiled::softmax(m, 0.5f, out.tensor);
  check.same_bits(out.tensor, softmax(m, 0.5f));
  out.tensor = m;
  compiled::softmax(out.tensor, 0.5f, out.tensor);
  check.same_bits(out.tensor, softmax(m, 0.5f));
  check.that(out.guards_hold());
}

template <std::size_t... Extents>
Tensor<bool, Extents...> flags(std::uint32_t seed) {
  const auto drawn = draw<Tensor<float, Extents...>>(seed);
  Tensor<bool, Extents...> result{};
  for (std::size_t i = 0; i < result.size(); ++i) result.data()[i] = drawn.data()[i] < 0.2f;
  return result;
}

template <std::size_t... Extents>
Tensor<float, Extents...> addends(std::uint32_t seed) {
  auto result = draw<Tensor<float, Extents...>>(seed);
  for (std::size_t i = 0; i < result.size(); ++i)
    if (result.data()[i] < -0.5f) result.data()[i] = -test::infinity;
  return result;
}

template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
void attend(Check& check, const auto& mask) {
  const auto query = draw<Matrix<float, Tokens, KeyDim>>(3);
  const auto key = draw<Matrix<float, SourceTokens, KeyDim>>(4);
  const auto value = draw<Matrix<float, SourceTokens, ValueDim>>(5);
  Guarded<Matrix<float, Tokens, ValueDim>> out;
  struct {
    compiled::AttentionWorkspace<Tokens, SourceTokens> workspace;
    float guard;
  } scratch;
  scratch.guard = out.untouched;
  compiled::scaled_dot_product_attention(query, key, value, mask, out.tensor, scratch.workspace);
  check.same_bits(out.tensor, scaled_dot_product_attention(query, key, value, mask));
  check.that(out.guards_hold());
  check.same_bits(scratch.guard, out.untouched);
}

template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
void attend_with_every_mask(Check& check) {
  attend<Tokens, SourceTokens, KeyDim, ValueDim>(check, NoMask{});
  attend<Tokens, SourceTokens, KeyDim, ValueDim>(check, Causal{});
  attend<Tokens, SourceTokens, KeyDim, ValueDim>(check, CausalBottomRight{});
  attend<Tokens, SourceTokens, KeyDim, ValueDim>(check, BlockMask{flags<Tokens, SourceTokens>(7)});
  attend<Tokens, SourceTokens, KeyDim, ValueDim>(check, KeepMask{flags<SourceTokens>(8)});
  attend<Tokens, SourceTokens, KeyDim, ValueDim>(check, AdditiveMask{addends<Tokens, SourceTokens>(9)});
}

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
}

constexpr AttentionConfig small{.d_in = 3, .d_out = 4, .context_length = 7, .num_heads = 2};
constexpr AttentionConfig biased{.d_in = 5, .d_out = 9, .context_length = 6, .num_heads = 3, .causal = false, .qkv_bias = true};
constexpr AttentionConfig without_projection{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 1, .out_proj = false};
constexpr AttentionConfig without_out_bias{.d_in = 4, .d_out = 6, .context_length = 9, .num_heads = 1, .out_bias = false};

constexpr Test tests[] = {
    at_run_time("products of any shape",
                [](Check& check) {
                  multiply<1, 1, 1>(check);
                  multiply<3, 5, 7>(check);
                  multiply<9, 4, 6>(check);
                  multiply<17, 16, 33>(check);
                }),
    at_run_time("softmax of any shape",
                [](Check& check) {
                  check_softmax<1, 1>(check);
                  check_softmax<5, 19>(check);
                  check_softmax<7, 16>(check);
                  check_softmax<3, 70>(check);
                }),
    at_run_time("attention of any shape, with every mask",
                [](Check& check) {
                  attend_with_every_mask<1, 1, 1, 1>(check);
                  attend_with_every_mask<6, 9, 4, 5>(check);
                  attend_with_every_mask<13, 9, 8, 7>(check);
                }),
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
    at_run_time("the scale is the constant of the headers, for every width",
                [](Check& check) {
                  bool holds = true;
                  for (std::size_t n = 1; n <= 300; ++n)
                    holds = holds && tinyattn_inverse_sqrt(n) == static_cast<float>(1.0 / detail::square_root(static_cast<double>(n)));
                  check.that(holds);
                  check.same_bits(tinyattn_inverse_sqrt(65536), detail::inverse_sqrt<65536>);
                  check.same_bits(tinyattn_inverse_sqrt(1048575), detail::inverse_sqrt<1048575>);
                  check.same_bits(tinyattn_inverse_sqrt(0), 0.0f);
                }),
};

}  // namespace

int main() { return run(tests); }
