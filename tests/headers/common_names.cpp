// SPDX-License-Identifier: MIT
//
// A program may give its globals any name: with -Wshadow, no local of the library may be reported to hide one.
#include "tinyattn/tinyattn.hpp"

int a, b, c, i, j, k, m, n, q, r, u, v, w, x, y, z;
int batch, bias, block, bound, column, cols, context, count, data, element, elements, end, factor, first, from, generator, half, head,
    heads, index_, input, item, kept, key, keys, lane, lanes, largest, layer, lost, mask, native, next, out, output, port, position,
    product, query, rows, scale, score, scores, shape, shift, size, start, step, stride, sum, tile, to, tokens, value, values, visible,
    weight, weights, width, word, words, workspace;

template <class Generator>
static void use_everything(Generator draws) {
  using namespace tinyattn;
  using Layer = MultiHeadAttention<AttentionConfig{
      .d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2, .qkv_bias = true, .dropout = 0.5, .residual_dropout = 0.5}>;
  static Layer module_{};
  static typename Layer::Workspace scratch;
  initialize(module_, draws);
  auto tokens_in = rand<2, 6, 3>(draws);
  Tensor<float, 2, 6, 4> result;
  Tensor<float, 2, 2, 6, 6> shares;
  module_.forward(tokens_in, result, scratch);
  module_.forward(tokens_in, AdditiveMask{causal_mask<6>()}, result, scratch);
  module_.forward(tokens_in, tokens_in, tokens_in, result, scratch);
  module_.forward_with_weights(tokens_in, result, shares, scratch);
  static_cast<void>(module_.forward(tokens_in, std::size_t{3}, result, scratch));
  module_.forward(tokens_in, result, scratch, draws);
  StackedCausalAttention<3, 2, 6, 2> stacked{};
  initialize(stacked, draws);
  result = stacked(tokens_in);
  const auto matrix_ = rand<6, 6>(draws);
  Matrix<float, 6, 6> square = add(matmul(matrix_, matrix_), matmul_transposed(matrix_, matrix_));
  square = softmax(softmax_naive(normalize(masked_fill(tril(square), triu(ones<bool, 6, 6>(), 1), 0.5f))));
  square = relu(gelu(gelu_tanh(silu(square))));
  square = dropout(transpose(square), 0.5, draws);
  square = scaled_dot_product_attention(square, square, square, BlockMask{triu(ones<bool, 6, 6>(), 1)});
  square = scaled_dot_product_attention(square, square, square, CausalBottomRight{});
  square(0, 0) = dot(row(square, 0), row(square, 1)) + tinyattn::exp(tinyattn::sqrt(tinyattn::fma(1.0f, 2.0f, uniform(draws, 0.0f, 1.0f))));
  square(0, 1) = tinyattn::tanh(tinyattn::erf(square(0, 0)));
  const auto joined = concat_columns(columns<2>(square, 1), stack(row(square, 0), row(square, 1)).extent(0) == 2 ? square : matrix_);
  static_cast<void>(from_torch(joined)(rand<8>(draws)));
}

int main() {
  use_everything(tinyattn::Mt19937(1));
  use_everything(tinyattn::Philox4x32(1));
  return 0;
}
