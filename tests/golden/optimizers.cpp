// SPDX-License-Identifier: MIT
//
// 1,000 steps of each optimizer: the weights differ from PyTorch's by less than 1e-6.
#include "optimizers.hpp"

#include "support/check.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/training/optimizer.hpp"

namespace tinyattn::test { namespace {

using Layer = Linear<3, 7>;
constexpr int steps = 1000;

// The generator of optimizers.py.
class Generator {
 public:
  float draw() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<std::int32_t>(state_ >> 16) - 0x8000) * 0x1p-16f;
  }

 private:
  std::uint32_t state_ = 1;
};

// Checks the layer after all steps, and returns the sum of the norms before clipping.
template <class Optimizer>
double check_steps(Check& check, const Tensor<float, 28>& expected, const typename Optimizer::Config& config, float max_norm = 0.0f) {
  Generator generator;
  Layer layer{}, gradient{};
  typename Optimizer::template State<Layer> state{};
  for_each_parameter(layer, [&](const char*, auto& tensor) {
    for (float& element : tensor.elements) element = generator.draw();
  });
  double norms = 0;
  for (int step = 0; step < steps; ++step) {
    for_each_parameter(gradient, [&](const char*, auto& tensor) {
      for (std::size_t i = 0; i < tensor.size(); ++i) tensor.elements[i] = generator.draw() + (static_cast<float>(i % 5) - 2.0f) * 0.125f;
    });
    if (max_norm != 0.0f) norms += static_cast<double>(clip_grad_norm(gradient, max_norm));
    Optimizer::step(layer, gradient, state, config);
  }
  Tensor<float, 28> weights{};
  std::size_t next = 0;
  for_each_parameter(layer, [&](const char*, auto& tensor) {
    for (const float element : tensor.elements) weights(next++) = element;
  });
  check.near(weights, expected, 1e-6f);
  return norms;
}

namespace torch = reference;

constexpr Test tests[] = {
    at_run_time("SGD", [](Check& check) { check_steps<Sgd>(check, torch::sgd, {.learning_rate = 0.001f}); }),
    at_run_time("SGD with weight decay",
                [](Check& check) { check_steps<Sgd>(check, torch::decayed, {.learning_rate = 0.001f, .weight_decay = 0.5f}); }),
    at_run_time("SGD with momentum",
                [](Check& check) {
                  check_steps<SgdMomentum>(check, torch::momentum, {.learning_rate = 0.0002f, .momentum = 0.9f, .weight_decay = 0.1f});
                }),
    at_run_time("AdamW", [](Check& check) { check_steps<AdamW>(check, torch::adamw, {}); }),
    at_run_time("AdamW with other settings, of gradients that are clipped",
                [](Check& check) {
                  const AdamW::Config config = {
                      .learning_rate = 0.0005f, .beta1 = 0.95f, .beta2 = 0.99f, .epsilon = 1e-6f, .weight_decay = 0.1f};
                  const double norms = check_steps<AdamW>(check, torch::clipped, config, 1.0f);
                  check.that(norms > torch::sum_of_norms - 1e-3 && norms < torch::sum_of_norms + 1e-3);
                }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
