// SPDX-License-Identifier: MIT
//
// Calls the kernels of training with drawn shapes: backward passes, losses, dropout and the steps of optimizers. Each call has memory of
// exactly the promised size, must write nothing else, and must compute the bits of plain loops, whatever scratch held before.
//
//     training [CALLS]
#include "attention_gradients.hpp"
#include "steps.hpp"
#include "table.hpp"

namespace {

using namespace tinyattn::test;

constexpr Operation operations[] = {
    {"Linear, gradients", linear_gradients, 0xd6d7390d},
    {"adapters, both passes", adapters, 0x2b979b59},
    {"norms, gradients", norm_gradients, 0x4ec7c367},
    {"activations, gradients", activation_gradients, 0xaca0b025},
    {"feed-forward, gradients", feed_forward_gradients, 0xc2f56a73},
    {"Conv1d, gradients", convolution_gradients, 0xe9b38f69},
    {"embeddings, gradients", embedding_gradients, 0xa9cb8235},
    {"attention, gradients", attention_gradients, 0x476db231},
    {"attention layers, gradients", layer_gradients, 0x84b0f3d2},
    {"blocks, both passes", block_gradients, 0x72552769},
    {"softmax and normalize, gradients", softmax_gradients, 0xed2c17f6},
    {"mean, largest and standardize, gradients", pooling_gradients, 0x6c6a3847},
    {"losses", losses, 0xffcb2b89},
    {"dropouts", dropouts, 0xc5d4aea7},
    {"steps of optimizers", optimizer_steps, 0x30285ed3},
};

}  // namespace

int main(int argc, char** argv) { return run(operations, calls_of(argc, argv, 200)); }
