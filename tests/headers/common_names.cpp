// SPDX-License-Identifier: MIT
//
// A program may give its globals any name: under -Wshadow no local of the library may hide one.
#include "tinyattn/tinyattn.hpp"
#include "tinyattn/training.hpp"

int a, b, c, i, j, k, m, n, q, r, u, v, w, x, y, z;
int batch, bias, block, bound, column, cols, context, count, data, element, elements, end, factor, first, from, generator, half, head,
    heads, index_, input, item, kept, key, keys, lane, lanes, largest, layer, lost, mask, native, next, out, output, port, position,
    product, query, rows, scale, score, scores, shape, shift, size, start, step, stride, sum, tile, to, tokens, value, values, visible,
    weight, weights, width, word, words, workspace;
int activation, angle, cache, config, cosine, d_model, down, embedding, epsilon, features, fraction, frequency, gate, last, logits, mean,
    model, most, norm, pair, pairs, past, position_embedding, positions, power, rank, rotation, sampling, scratch_, sine, square_, squares,
    table, temperature, threshold, ties, token, total, turn, up, variance, vocabulary;

// Uses a model with every optional part. With weights of int8 an optimizer sees the size of all memory, as in an exported module.
template <tinyattn::Weights weights_, class Generator>
static void use_models(Generator draws) {
  using namespace tinyattn;
  static constexpr AttentionConfig heads_{.d_in = 4,
                                          .d_out = 4,
                                          .context_length = 6,
                                          .num_heads = 2,
                                          .num_kv_heads = 1,
                                          .rotary = Rotary::halves,
                                          .weights = weights_,
                                          .cache = weights_};
  static constexpr FeedForwardConfig wide{.d_model = 4, .d_hidden = 6, .activation = Activation::silu, .gated = true, .weights = weights_};
  static constexpr TransformerConfig body{.block = {.attention = heads_, .feed_forward = wide, .normalization = Normalization::rms},
                                          .num_layers = 2};
  using Model = LanguageModel<LanguageModelConfig{
      .vocabulary = 5, .transformer = body, .positions = Positions::sinusoidal, .tied = false, .head_bias = true, .weights = weights_}>;
  static Model model_{};
  static typename Model::Workspace scratch;
  static typename Model::Cache keys_;
  static typename Model::Cache::Workspace few;
  if constexpr (weights_ == Weights::f32) initialize(model_, draws);
  const auto text = vector<Token>({1, 2, 3});
  Matrix<float, 3, 5> all;
  Vector<float, 5> one;
  static_cast<void>(model_.forward(text, all, scratch));
  static_cast<void>(model_.forward(text, keys_, one, few));
  all(0, 0) = static_cast<float>(argmax(one) + sample(one, Sampling{.temperature = 0.5f, .top_k = 3, .top_p = 0.5f}, draws));
  static typename Model::Body::Workspace scratch_of_blocks;
  Matrix<float, 6, 4> rows_ = rand<6, 4>(draws);
  model_.transformer.forward(rows_, CausalBottomRight{}, rows_, scratch_of_blocks);
  static_cast<void>(model_.transformer.forward(rows_, std::size_t{2}, rows_, scratch_of_blocks));
  LayerNorm<4> norm_{};
  initialize(norm_, draws);
  rows_ = norm_(add(rows_, sinusoidal_positions<6, 4>()));
}

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
  static Conv1d<Conv1dConfig{.in = 3, .out = 4, .kernel = 3, .padding = 1, .weights = Weights::int8}> convolution{};
  convolution.forward(tokens_in, result);
  StackedCausalAttention<3, 2, 6, 2> stacked{};
  initialize(stacked, draws);
  result = stacked(tokens_in);
  const auto matrix_ = rand<6, 6>(draws);
  Matrix<float, 6, 6> square = add(matmul(matrix_, matrix_), matmul_transposed(matrix_, matrix_));
  square = softmax(softmax_naive(normalize(masked_fill(tril(square), triu(ones<bool, 6, 6>(), 1), 0.5f))));
  square = relu(gelu(gelu_tanh(silu(multiply(subtract(2.0f, square), row(square, 1))))));
  square = dropout(transpose(square), 0.5, draws);
  square = scaled_dot_product_attention(square, square, square, BlockMask{triu(ones<bool, 6, 6>(), 1)});
  square = scaled_dot_product_attention(square, square, square, CausalBottomRight{});
  square(0, 0) = dot(row(square, 0), row(square, 1)) + tinyattn::exp(tinyattn::sqrt(tinyattn::fma(1.0f, 2.0f, uniform(draws, 0.0f, 1.0f))));
  square(0, 1) = tinyattn::tanh(tinyattn::erf(square(0, 0)));
  const auto joined = concat_columns(columns<2>(square, 1), stack(row(square, 0), row(square, 1)).extent(0) == 2 ? square : matrix_);
  square(0, 2) = concat_rows(row(square, 0), columns<6>(square, 0))(1, 2);
  static_cast<void>(from_torch(joined)(rand<8>(draws)));
}

// Trains a model with every part, and saves it in flash.
namespace {
struct Flash {
  void erase(std::size_t) {}
  void write(std::size_t, std::size_t, std::span<const std::byte>) {}
  void(read)(std::size_t, std::size_t, std::span<std::byte>) {}  // in parentheses: lwIP has a macro of this name
};
struct Parted {
  using Input = tinyattn::Matrix<float, 3, 4>;
  tinyattn::LayerNorm<4> normalized;
  tinyattn::MultiHeadAttention<tinyattn::AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 3, .num_heads = 2}> attended;
  tinyattn::Linear<4, 5> classified;
  using Parts = tinyattn::Parameters<&Parted::normalized, &Parted::attended, &Parted::classified>;
};
}  // namespace

static void train_everything(tinyattn::Philox4x32 draws) {
  using namespace tinyattn;
  static constexpr AttentionConfig heads_{
      .d_in = 4, .d_out = 4, .context_length = 6, .num_heads = 2, .dropout = 0.5, .num_kv_heads = 1, .rotary = Rotary::halves};
  static constexpr FeedForwardConfig wide{.d_model = 4, .d_hidden = 6, .activation = Activation::silu, .gated = true};
  using Model = LanguageModel<LanguageModelConfig{
      .vocabulary = 5,
      .transformer = {.block = {.attention = heads_, .feed_forward = wide, .normalization = Normalization::rms}, .num_layers = 2},
      .positions = Positions::none}>;
  using Thin = Adapters<Model, LoraConfig{.rank = 2, .up = true}>;
  static Model model_{}, merged{};
  static Thin thin{};
  static Training<Model, AdamW> training{};
  static Training<Model, SgdMomentum, Thin> tuning{};
  static Parted parted{};
  static Training<Parted, Sgd> learning{};
  const auto text = vector<Token>({1, 2, 3});
  initialize(model_, draws);
  initialize(thin, draws);
  initialize(parted, draws);
  float loss = training.backward(model_, text, text, 0.5f, draws) + clip_grad_norm(training.gradient, 1.0f);
  training.step(model_, {});
  loss += tuning.backward(model_, thin, text, text);
  tuning.step(thin, {});
  merge(model_, thin, merged);
  loss += learning.backward(parted, randn<3, 4>(draws), text);
  learning.step(parted, {.learning_rate = loss});
  static_cast<void>(save(parted, Flash{}) == Status::ok && load(parted, Flash{}) == Status::ok);
}

// A program's own functions on arrays may have the names of the library's.
namespace own {

using namespace tinyattn;

static void add(float*, const float*, int) {}
static void transpose(const float*, float*, int) {}
static void softmax(float*, int) {}
static void normalize(float*) {}
static_assert(!tensor_like<float*> && !tensor_like<float[3]>);

static void call(float* array) {
  add(array, array, 3);
  transpose(array, array, 3);
  softmax(array, 3);
  normalize(array);
}

}  // namespace own

int main() {
  float array[3];
  own::call(array);
  use_everything(tinyattn::Mt19937(1));
  use_everything(tinyattn::Philox4x32(1));
  use_models<tinyattn::Weights::f32>(tinyattn::Mt19937(1));
  use_models<tinyattn::Weights::int8>(tinyattn::Philox4x32(1));
  train_everything(tinyattn::Philox4x32(1));
  return 0;
}
