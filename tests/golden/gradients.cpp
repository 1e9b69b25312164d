// SPDX-License-Identifier: MIT
//
// Gradients compared with PyTorch's autograd in double: to 1e-6 of a tensor's largest element for a layer, to 2e-5 for a model (PyTorch's
// own in float32 are up to 3.1e-6 off: gradients.py distances). Where the largest is 0, as for a key's bias, the difference is absolute.
// Parameters, inputs and the output's gradient are drawn as in gradients.py.
#include "gradients.hpp"

#include "activations.hpp"
#include "catalogue/adapters.hpp"
#include "catalogue/cross_entropy.hpp"
#include "catalogue/gradients_of_attention.hpp"
#include "golden.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;
namespace torch = tinyattn::gradients_of;

constexpr float of_layer = 1e-6f, of_model = 2e-5f;

// Checks tensors against the elements of `expected` from `index` on, and advances `index`.
template <std::size_t Count>
constexpr void check_near(Check& check, const auto& tensors, const Vector<float, Count>& expected, std::size_t& index, float tolerance) {
  for_each_parameter(tensors, [&](const char*, const auto& tensor) {
    float largest = 0.0f;
    for (std::size_t j = 0; j < tensor.size(); ++j) {
      const float value = expected(index + j);
      largest = value > largest ? value : -value > largest ? -value : largest;
    }
    if (largest < 1e-12f) largest = 1.0f;
    for (std::size_t j = 0; j < tensor.size(); ++j) check.near(tensor.data()[j], expected(index++), tolerance * largest);
  });
}

// An operation of the catalogue and its tensors.
template <class Operation>
struct Replay {
  typename Operation::Module module{}, gradient{};
  typename Operation::Input x{}, d_x{};
  typename Operation::Output d_out{};

  constexpr void check(Check& check, const auto& expected, float tolerance) {
    Mt19937 generator(opaque(123u));
    const auto draw_from = [&](float bound) {
      return [&generator, bound](const char*, auto& tensor) {
        for (float& element : tensor.elements) element = bound * uniform(generator, -1.0f, 1.0f);
      };
    };
    for_each_parameter(module, draw_from(0.5f));
    for_each_parameter(x, draw_from(1.0f));
    for_each_parameter(d_out, draw_from(1.0f));
    Operation::backward(module, x, d_out, d_x, gradient);
    std::size_t index = 0;
    check_near(check, d_x, expected, index, tolerance);
    check_near(check, gradient, expected, index, tolerance);
    check.equal(index, expected.size());
  }
};

template <class Operation, const auto& expected>
constexpr Test as_torch(const char* name) {
  return everywhere(name, [](Check& check) { Replay<Operation>{}.check(check, expected, of_layer); });
}

// For operations that take a compiler too long.
template <class Operation, const auto& expected, const float& tolerance = of_layer>
constexpr Test as_torch_at_run_time(const char* name) {
  return at_run_time(name, [](Check& check) {
    static Replay<Operation> replay;
    replay.check(check, expected, tolerance);
  });
}
template <class Operation, const auto& expected>
constexpr Test model_as_torch(const char* name) {
  return as_torch_at_run_time<Operation, expected, of_model>(name);
}

// --- Activations of numbers up to 64 ---

// Column j of x is multiplied by 2^(j % 7), and the activation's result divided by that.
template <Activation activation>
inline constexpr auto far_activation_gradient = [](auto& x, auto& d_out, auto& d_x) {
  Vector<float, 17> powers;
  for (std::size_t j = 0; j < 17; ++j) powers(j) = static_cast<float>(1u << j % 7);
  const auto far = multiply(x, powers);
  activation_gradient<activation>(far, d_out, d_x);
};
template <Activation activation>
using FarActivationGradient = OfFunction<far_activation_gradient<activation>, Matrix<float, 3, 17>, Matrix<float, 3, 17>>;

// --- Attention and models ---

constexpr AttentionConfig one_head = {.d_in = 5, .d_out = 6, .context_length = 7};
constexpr AttentionConfig causal = {.d_in = 5, .d_out = 6, .context_length = 7, .num_heads = 2};
constexpr AttentionConfig not_causal = {.d_in = 5, .d_out = 6, .context_length = 7, .num_heads = 2, .causal = false};
constexpr AttentionConfig biases = {.d_in = 5, .d_out = 6, .context_length = 6, .num_heads = 2, .qkv_bias = true, .out_proj = false};
constexpr AttentionConfig dropped = {
    .d_in = 5, .d_out = 6, .context_length = 6, .num_heads = 2, .qkv_bias = true, .dropout = 0.5, .residual_dropout = 0.1};
constexpr AttentionConfig grouped = {
    .d_in = 8, .d_out = 8, .context_length = 9, .num_heads = 4, .num_kv_heads = 2, .rotary = Rotary::interleaved};
constexpr AttentionConfig windowed = {
    .d_in = 8, .d_out = 8, .context_length = 9, .num_heads = 4, .num_kv_heads = 2, .rotary = Rotary::interleaved, .window = 4};
constexpr AttentionConfig halves = {.d_in = 8,
                                    .d_out = 8,
                                    .context_length = 5,
                                    .num_heads = 2,
                                    .out_proj = false,
                                    .num_kv_heads = 1,
                                    .rotary = Rotary::halves,
                                    .rotary_base = 500};

constexpr AttentionConfig of_gpt_2 = {.d_in = 4, .d_out = 4, .context_length = 6, .num_heads = 2, .qkv_bias = true};
constexpr AttentionConfig of_encoder = {.d_in = 4, .d_out = 4, .context_length = 6, .num_heads = 2, .causal = false, .qkv_bias = true};
constexpr AttentionConfig of_llama = {
    .d_in = 4, .d_out = 4, .context_length = 6, .num_heads = 2, .num_kv_heads = 1, .rotary = Rotary::halves};
constexpr AttentionConfig of_gpt_2_dropped = {
    .d_in = 4, .d_out = 4, .context_length = 6, .num_heads = 2, .qkv_bias = true, .dropout = 0.5, .residual_dropout = 0.1};
constexpr FeedForwardConfig of_block(Activation activation) { return {.d_model = 4, .d_hidden = 5, .activation = activation}; }
constexpr FeedForwardConfig gated(Activation activation, bool bias) {
  return {.d_model = 4, .d_hidden = 6, .activation = activation, .gated = true, .bias = bias};
}

constexpr BlockConfig norm_last = {.attention = of_gpt_2, .feed_forward = of_block(Activation::gelu), .norm_first = false};
constexpr BlockConfig layer_first = {.attention = of_gpt_2, .feed_forward = of_block(Activation::gelu_tanh)};
constexpr BlockConfig rms_first = {
    .attention = of_llama, .feed_forward = gated(Activation::silu, false), .normalization = Normalization::rms};
constexpr BlockConfig rms_last = {.attention = {.d_in = 4, .d_out = 4, .context_length = 6, .num_heads = 2},
                                  .feed_forward = gated(Activation::relu, true),
                                  .normalization = Normalization::rms,
                                  .norm_first = false};
constexpr BlockConfig block_dropped = {.attention = of_gpt_2_dropped, .feed_forward = of_block(Activation::gelu)};
constexpr BlockConfig gpt_2_dropped = {.attention = of_gpt_2_dropped, .feed_forward = of_block(Activation::gelu_tanh)};
constexpr BlockConfig of_torch = {.attention = of_encoder, .feed_forward = of_block(Activation::relu), .norm_first = false};
constexpr TransformerConfig encoder = {.block = of_torch, .num_layers = 2, .final_norm = false};

constexpr LanguageModelConfig gpt_2(const BlockConfig& block) {
  return {.vocabulary = 7, .transformer = {.block = block, .num_layers = 2}};
}
constexpr LanguageModelConfig llama(bool tied, bool head_bias = false) {
  return {.vocabulary = 5,
          .transformer = {.block = rms_first, .num_layers = 2},
          .positions = Positions::none,
          .tied = tied,
          .head_bias = head_bias};
}

constexpr FeedForwardConfig hidden(Activation activation, bool gated) {
  return {.d_model = 5, .d_hidden = 7, .activation = activation, .gated = gated, .bias = !gated};
}

// --- Adapters ---

constexpr LoraConfig all_projections{.rank = 3, .alpha = 6, .key = true, .output = true, .up = true, .gate = true, .down = true};
constexpr AttentionConfig two_heads(std::size_t d_in) { return {.d_in = d_in, .d_out = 8, .context_length = 6, .num_heads = 2}; }
constexpr BlockConfig silu_first = {.attention = two_heads(8),
                                    .feed_forward = {.d_model = 8, .d_hidden = 12, .activation = Activation::silu, .gated = true}};
constexpr LanguageModelConfig decoder = {.vocabulary = 11, .transformer = {.block = silu_first, .num_layers = 2}};

constexpr Test tests[] = {
    as_torch<LinearGradient<5, 7, true, 2, 3>, torch::linear>("Linear"),
    as_torch<LinearGradient<17, 3, false, 4>, torch::linear_without_bias>("Linear, without a bias"),
    as_torch<NormGradient<LayerNorm<17>, 2, 2, 17>, torch::layer_norm>("LayerNorm"),
    as_torch<NormGradient<RmsNorm<17>, 3, 17>, torch::rms_norm>("RmsNorm"),
#define OF_ACTIVATION(name, NAME, formula)                                                                                  \
  as_torch<ActivationGradient<Activation::name, Matrix<float, 3, 17>>, torch::name>(#name),                                 \
      as_torch<FarActivationGradient<Activation::name>, torch::far_##name>(#name " of numbers up to 64"),                   \
      as_torch<FeedForwardGradient<hidden(Activation::name, false), 3>, torch::feed_forward_##name>("FeedForward, " #name), \
      as_torch<FeedForwardGradient<hidden(Activation::name, true), 3>, torch::gated_##name>("FeedForward, gated, " #name),
    TINYATTN_ACTIVATIONS(OF_ACTIVATION)
#undef OF_ACTIVATION
        as_torch<EmbeddingGradient<7>, torch::embedding>("Embedding"),
    as_torch<ConvolutionGradient<Conv1dConfig{.in = 3, .out = 4, .kernel = 3, .padding = 1}, 7, 2>, torch::conv1d>("Conv1d"),
    as_torch<ConvolutionGradient<Conv1dConfig{.in = 2, .out = 3, .kernel = 5, .stride = 2, .padding = 3, .bias = false}, 9>,
             torch::conv1d_with_stride>("Conv1d, with a stride"),
    as_torch<MatmulGradient<Tensor<float, 2, 3, 7>, Tensor<float, 2, 3, 5>, Matrix<float, 5, 7>>, torch::matmul>("matmul"),
    as_torch<MatmulGradient<Tensor<float, 2, 3, 4>, Tensor<float, 2, 3, 5>, Tensor<float, 2, 5, 4>>, torch::matmul_of_batches>(
        "matmul, of batches"),
    as_torch<MatmulTransposedGradient<Tensor<float, 2, 3, 7>, Tensor<float, 2, 3, 5>, Matrix<float, 7, 5>>, torch::matmul_transposed>(
        "matmul_transposed"),
    as_torch<SoftmaxGradient<Matrix<float, 3, 17>>, torch::softmax>("softmax"),
    as_torch<AddGradient<Matrix<float, 3, 7>, Vector<float, 7>>, torch::add>("add, of a row"),
    as_torch<MultiplyGradient<Matrix<float, 3, 7>, Matrix<float, 1, 7>>, torch::multiply>("multiply, by a row"),
    as_torch<MultiplyGradient<Matrix<float, 3, 7>, Matrix<float, 3, 7>>, torch::multiply_of_one_shape>("multiply, of one shape"),
    as_torch<MeanGradient<5, 7, 2>, torch::mean>("mean"),
    as_torch<LargestGradient<5, 7, 2>, torch::largest>("largest"),
    as_torch<CrossEntropyGradient<6, 17>, torch::cross_entropy>("cross_entropy"),
    as_torch<StandardizeGradient<3, 7>, torch::standardize>("standardize"),
    as_torch<AdaptedGradient<Linear<5, 7>, all_projections, Matrix<float, 4, 5>, Matrix<float, 4, 7>>, torch::adapted_linear>(
        "Linear, with adapters"),
    as_torch<AdaptedGradient<MultiHeadAttention<two_heads(6)>, all_projections, Matrix<float, 5, 6>, Matrix<float, 5, 8>>,
             torch::adapted_layer>("MultiHeadAttention, with adapters"),
    as_torch<AdaptedGradient<TransformerBlock<silu_first>, all_projections, Matrix<float, 5, 8>>, torch::adapted_block>(
        "TransformerBlock, with adapters"),
    model_as_torch<AdaptedLoss<decoder, all_projections, 6>, torch::adapted_loss>("LanguageModel, with adapters"),
    as_torch_at_run_time<OneHeadGradient<patterned<NoMask>, 5, 7, 3, 4>, torch::attention_no_mask>("attention, NoMask"),
    as_torch_at_run_time<OneHeadGradient<patterned<Causal>, 6, 6, 4, 3, 2>, torch::attention_causal>("attention, Causal"),
    as_torch_at_run_time<OneHeadGradient<patterned<CausalBottomRight>, 3, 6, 3, 2>, torch::attention_causal_bottom_right>(
        "attention, CausalBottomRight"),
    as_torch_at_run_time<OneHeadGradient<patterned<BlockMask<5, 7>>, 5, 7, 3, 4>, torch::attention_block_mask>("attention, BlockMask"),
    as_torch_at_run_time<OneHeadGradient<patterned<KeepMask<7>>, 5, 7, 3, 4, 2>, torch::attention_keep_mask>("attention, KeepMask"),
    as_torch<OneHeadGradient<patterned<AdditiveMask<5, 7>>, 5, 7, 3, 4>, torch::attention_additive_mask>("attention, AdditiveMask"),
    as_torch<LayerGradient<one_head, 5>, torch::layer_one_head>("MultiHeadAttention, one head"),
    as_torch_at_run_time<LayerGradient<biases, 6>, torch::layer_biases>("MultiHeadAttention, biases, no out_proj"),
    as_torch_at_run_time<LayerGradient<not_causal, 2, 5>, torch::layer_not_causal>("MultiHeadAttention, not causal"),
    as_torch_at_run_time<Masked<patterned<BlockMask<6, 6>>, LayerGradient<not_causal, 6>>, torch::layer_masked>(
        "MultiHeadAttention, BlockMask"),
    as_torch_at_run_time<OfFirst<3, LayerGradient<causal, 2, 5>>, torch::layer_of_some>("MultiHeadAttention, counted tokens"),
    as_torch_at_run_time<LayerGradient<grouped, 9>, torch::layer_grouped>("MultiHeadAttention, grouped, rotary pairs"),
    as_torch_at_run_time<LayerGradient<halves, 5>, torch::layer_halves>("MultiHeadAttention, grouped, rotary halves"),
    as_torch_at_run_time<LayerGradient<windowed, 9>, torch::layer_window>("MultiHeadAttention, window"),
    as_torch_at_run_time<MemoryGradient<not_causal, patterned<NoMask>, 5, 7, 2>, torch::layer_memory>("cross-attention to a memory"),
    as_torch_at_run_time<CrossGradient<not_causal, 3, 5, 4, 7>, torch::layer_cross>("cross-attention, counted tokens"),
    as_torch_at_run_time<Dropped<LayerGradient<dropped, 2, 6>>, torch::layer_dropped>("MultiHeadAttention, dropout"),
    model_as_torch<BlockGradient<norm_last, 5>, torch::block_norm_last>("TransformerBlock, norms last"),
    model_as_torch<BlockGradient<layer_first, 2, 5>, torch::block_layer_first>("TransformerBlock, norms first"),
    model_as_torch<BlockGradient<rms_first, 5>, torch::block_rms_first>("TransformerBlock, RmsNorm first, gated"),
    model_as_torch<BlockGradient<rms_last, 5>, torch::block_rms_last>("TransformerBlock, RmsNorm last, gated"),
    model_as_torch<Dropped<BlockGradient<block_dropped, 5>>, torch::block_dropped>("TransformerBlock, dropout"),
    model_as_torch<TransformerGradient<encoder, 5>, torch::encoder>("torch.nn.TransformerEncoderLayer, twice"),
    model_as_torch<TextGradient<gpt_2(layer_first), 5>, torch::gpt_2>("LanguageModel, as GPT-2"),
    model_as_torch<TextGradient<llama(false), 6>, torch::llama>("LanguageModel, as Llama"),
    model_as_torch<TextGradient<llama(true), 6>, torch::llama_tied>("LanguageModel, as Llama, tied"),
    model_as_torch<LossGradient<gpt_2(layer_first), 6>, torch::gpt_2_loss>("Training, as GPT-2"),
    model_as_torch<LossGradient<gpt_2(gpt_2_dropped), 6, true>, torch::gpt_2_loss_dropped>("Training, as GPT-2, dropout"),
    model_as_torch<LossGradient<llama(false, true), 6>, torch::llama_loss>("Training, as Llama, a bias in the head"),
};

}  // namespace

int main() { return run(tests); }
