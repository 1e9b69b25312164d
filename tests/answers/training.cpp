// SPDX-License-Identifier: MIT
//
// Calls the kernels of training with drawn shapes: backward passes, losses, dropout and the steps of optimizers. Each call has memory of
// exactly the promised size, must write nothing else, and must compute the bits of plain loops, whatever scratch held before.
//
//     training [CALLS]
#include "attention_gradients.hpp"
#include "steps.hpp"
#include "table.hpp"

#include <cstdlib>

namespace {

using namespace tinyattn::test;

constexpr unsigned long committed_calls = 60;

constexpr Operation operations[] = {
    {"Linear, gradients", linear_gradients, 0},
    {"adapters, gradients", adapter_gradients, 0},
    {"norms, gradients", norm_gradients, 0},
    {"activations, gradients", activation_gradients, 0},
    {"feed-forward, gradients", feed_forward_gradients, 0},
    {"Conv1d, gradients", convolution_gradients, 0},
    {"embeddings, gradients", embedding_gradients, 0},
    {"attention, gradients", attention_gradients, 0},
    {"attention layers, gradients", layer_gradients, 0},
    {"blocks, both passes", block_gradients, 0},
    {"softmax and normalize, gradients", softmax_gradients, 0},
    {"mean, largest and standardize, gradients", pooling_gradients, 0},
    {"losses", losses, 0},
    {"dropouts", dropouts, 0},
    {"steps of optimizers", optimizer_steps, 0},
};

}  // namespace

int main(int argc, char** argv) {
  return run(operations, argc > 1 ? std::strtoul(argv[1], nullptr, 10) : committed_calls, committed_calls);
}
