// SPDX-License-Identifier: MIT
//
// Calls the kernels of training with drawn shapes: backward passes, losses, dropout and the steps of optimizers; and attention over int8.
// Each call has memory of exactly the promised size, must write nothing else, and must compute the bits of plain loops, whatever scratch
// held before.
//
//     training [CALLS]
#include "attention_gradients.hpp"
#include "int8_attention.hpp"
#include "steps.hpp"
#include "table.hpp"

namespace {

using namespace tinyattn::test;

constexpr Operation operations[] = {
    {"Linear, gradients", linear_gradients, 0xd6d7390d},
    {"adapters, both passes", adapters, 0x2b979b59},
    {"norms, gradients", norm_gradients, 0x4ec7c367, 0x68a98d5d},
    {"activations, gradients", activation_gradients, 0xaca0b025, 0x61df0a6d},
    {"feed-forward, gradients", feed_forward_gradients, 0xc2f56a73, 0xd63b122b},
    {"Conv1d, gradients", convolution_gradients, 0xe9b38f69, 0x666376dd},
    {"embeddings, gradients", embedding_gradients, 0xa9cb8235, 0xc2673870},
    {"attention, gradients", attention_gradients, 0x476db231, 0x05b3d97d},
    {"attention layers, gradients", layer_gradients, 0x84b0f3d2},
    {"blocks, both passes", block_gradients, 0x72552769},
    {"attention over keys and values of int8", int8_attention, 0x95100ad4},
    {"softmax, gradients", softmax_gradients, 0x87759487},
    {"mean, largest and standardize, gradients", pooling_gradients, 0x6c6a3847, 0x0d7169ba},
    {"losses", losses, 0xffcb2b89, 0x02c37361},
    {"dropouts", dropouts, 0xc5d4aea7, 0x7329fc2b},
    {"steps of optimizers", optimizer_steps, 0x30285ed3, 0x4adeae59},
};

}  // namespace

int main(int argc, char** argv) { return run(operations, calls_of(argc, argv, 200)); }
