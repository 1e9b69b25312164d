// SPDX-License-Identifier: MIT
//
// Gradients against those of PyTorch's autograd in double: each tensor to 1e-6 of its largest element. Parameters, inputs and the gradient
// of the output are drawn as gradients.py draws them.
#include "gradients.hpp"

#include "catalogue/adapters.hpp"
#include "catalogue/cross_entropy.hpp"
#include "catalogue/gradients.hpp"
#include "golden.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;
namespace torch = tinyattn::gradients_of;

constexpr float of_layer = 1e-6f, of_model = 2e-5f;

// Checks tensors against elements of `expected` from `index` on, and moves on.
template <std::size_t Count>
constexpr void check_near(Check& check, const auto& tensors, const Vector<float, Count>& expected, std::size_t& index, float tolerance) {
  for_each_parameter(tensors, [&](const char*, const auto& tensor) {
    float largest = 0.0f;
    for (std::size_t j = 0; j < tensor.size(); ++j) {
      const float value = expected(index + j);
      largest = value > largest ? value : -value > largest ? -value : largest;
    }
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
    Operation::backward(Library{}, module, x, d_out, d_x, gradient);
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
// The same for a model, of which a compiler has enough after some steps.
template <class Operation, const auto& expected>
constexpr Test model_as_torch(const char* name) {
  return at_run_time(name, [](Check& check) { Replay<Operation>{}.check(check, expected, of_model); });
}

constexpr FeedForwardConfig hidden(Activation activation, bool gated) {
  return {.d_model = 5, .d_hidden = 7, .activation = activation, .gated = gated, .bias = !gated};
}

constexpr LoraConfig all_projections{.rank = 3, .alpha = 6, .key = true, .output = true, .up = true, .gate = true, .down = true};
constexpr AttentionConfig heads(std::size_t d_in) { return {.d_in = d_in, .d_out = 8, .context_length = 6, .num_heads = 2}; }
constexpr BlockConfig block{.attention = heads(8),
                            .feed_forward = {.d_model = 8, .d_hidden = 12, .activation = Activation::silu, .gated = true}};
constexpr LanguageModelConfig decoder{.vocabulary = 11, .transformer = {.block = block, .num_layers = 2}};

constexpr Test tests[] = {
    as_torch<LinearGradient<5, 7, true, 2, 3>, torch::linear>("Linear"),
    as_torch<LinearGradient<17, 3, false, 4>, torch::linear_without_bias>("Linear, without a bias"),
    as_torch<NormGradient<LayerNorm<17>, 2, 2, 17>, torch::layer_norm>("LayerNorm"),
    as_torch<NormGradient<RmsNorm<17>, 3, 17>, torch::rms_norm>("RmsNorm"),
#define OF_ACTIVATION(name, NAME, formula)                                                                                  \
  as_torch<ActivationGradient<Activation::name, Matrix<float, 3, 17>>, torch::name>(#name),                                 \
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
    as_torch<MeanGradient<5, 7, 2>, torch::mean>("mean"),
    as_torch<LargestGradient<5, 7, 2>, torch::largest>("largest"),
    as_torch<CrossEntropyGradient<6, 17>, torch::cross_entropy>("cross_entropy"),
    as_torch<StandardizeGradient<3, 7>, torch::standardize>("standardize"),
    as_torch<AdaptedGradient<Linear<5, 7>, all_projections, Matrix<float, 4, 5>, Matrix<float, 4, 7>>, torch::adapted_linear>(
        "Linear, with adapters"),
    as_torch<AdaptedGradient<MultiHeadAttention<heads(6)>, all_projections, Matrix<float, 5, 6>, Matrix<float, 5, 8>>,
             torch::adapted_attention>("MultiHeadAttention, with adapters"),
    as_torch<AdaptedGradient<TransformerBlock<block>, all_projections, Matrix<float, 5, 8>>, torch::adapted_block>(
        "TransformerBlock, with adapters"),
    model_as_torch<AdaptedLoss<decoder, all_projections, 6>, torch::adapted_loss>("LanguageModel, with adapters"),
};

}  // namespace

int main() { return run(tests); }
