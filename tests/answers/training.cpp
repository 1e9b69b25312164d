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

// On boards none is compared with plain loops.
constexpr unsigned committed_calls = 100, calls = has_twin ? 200 : committed_calls;

constexpr Operation operations[] = {
    {"Linear, gradients", linear_gradients, 0x524d115f},
    {"adapters, gradients", adapter_gradients, 0xb84c4cc4},
    {"norms, gradients", norm_gradients, 0x8b702f47},
    {"activations, gradients", activation_gradients, 0xa4d9bd2a},
    {"feed-forward, gradients", feed_forward_gradients, 0x963c145c},
    {"Conv1d, gradients", convolution_gradients, 0x84855408},
    {"embeddings, gradients", embedding_gradients, 0x0e53e8f0},
    {"attention, gradients", attention_gradients, 0x15726558},
    {"attention layers, gradients", layer_gradients, 0x2b75eb17},
    {"blocks, both passes", block_gradients, 0x2a92ce29},
    {"softmax and normalize, gradients", softmax_gradients, 0xa86cf0fc},
    {"mean, largest and standardize, gradients", pooling_gradients, 0x7edcd0ac},
    {"losses", losses, 0x95bd8b47},
    {"dropouts", dropouts, 0x22796104},
    {"steps of optimizers", optimizer_steps, 0xc83e8454},
};

}  // namespace

int main(int argc, char** argv) { return run(operations, committed_calls, argc > 1 ? number_of(argv[1]) : calls); }
