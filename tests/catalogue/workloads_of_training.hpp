// SPDX-License-Identifier: MIT
//
// The workloads of training, after those of workloads.hpp in the table. The same holds for their CRCs.
#pragma once

#include "gradients.hpp"
#include "workloads.hpp"

namespace tinyattn::test {

// Calls each(workload) for the gradients of layers and functions.
constexpr void for_each_workload_of_gradients(auto&& each) {
  each(Workload<Gradients<LinearGradient<3, 2, true, 6>>, Gradients<LinearGradient<17, 33, true, 2, 3>>,
                Gradients<LinearGradient<5, 16, false, 3>>>{"Linear, gradients", 0xa5b0e32c});
  each(Workload<Gradients<NormGradient<LayerNorm<1>, 1, 1>>, Gradients<NormGradient<LayerNorm<17>, 2, 3, 17>>,
                Gradients<NormGradient<LayerNorm<48>, 2, 48>>>{"LayerNorm, gradients", 0x9fbc3b3b});
  each(Workload<Gradients<NormGradient<RmsNorm<5>, 3, 5>>, Gradients<NormGradient<RmsNorm<16>, 2, 16>>,
                Gradients<NormGradient<RmsNorm<33>, 2, 33>>>{"RmsNorm, gradients", 0x10b8754b});
  each(Workload<Gradients<ActivationGradient<Activation::relu, Vector<float, 33>>>,
                Gradients<ActivationGradient<Activation::gelu, Vector<float, 33>>>,
                Gradients<ActivationGradient<Activation::gelu_tanh, Vector<float, 33>>>,
                Gradients<ActivationGradient<Activation::silu, Vector<float, 33>>>>{"activations, gradients", 0x23da5a2a});
  each(Workload<Gradients<FeedForwardGradient<gelu_part, 5>>, Gradients<FeedForwardGradient<gated_part, 3>>>{"FeedForward, gradients",
                                                                                                             0x0b462684});
  each(Workload<Gradients<EmbeddingGradient<1>>, Gradients<EmbeddingGradient<17>>>{"Embedding, gradients", 0xf5ead2c8});
  each(Workload<Gradients<ConvolutionGradient<overlapping, 9>>, Gradients<ConvolutionGradient<padded, 6, 2>>,
                Gradients<ConvolutionGradient<patches, 8>>, Gradients<ConvolutionGradient<apart, 11>>>{"Conv1d, gradients", 0x052b9045});
  each(Workload<Gradients<MatmulGradient<Tensor<float, 2, 3, 17>, Tensor<float, 2, 3, 5>, Matrix<float, 5, 17>>>,
                Gradients<MatmulTransposedGradient<Tensor<float, 2, 3, 4>, Tensor<float, 2, 3, 17>, Tensor<float, 2, 4, 17>>>>{
      "products, gradients", 0x4f7a01d9});
  each(Workload<Gradients<SoftmaxGradient<Vector<float, 1>>>, Gradients<SoftmaxGradient<Tensor<float, 2, 3, 7>>>,
                Gradients<SoftmaxGradient<Matrix<float, 2, 49>>>>{"softmax, gradients", 0x7d1bbebf});
  each(Workload<Gradients<MeanGradient<3, 17, 2>>, Gradients<LargestGradient<5, 17, 2>>, Gradients<StandardizeGradient<2, 33>>>{
      "mean, largest and standardize, gradients", 0xe3cc9020});
}

}  // namespace tinyattn::test
