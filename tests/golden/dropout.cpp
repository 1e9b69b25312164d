// SPDX-License-Identifier: MIT
//
// Half of the elements dropped, the same ones that PyTorch drops after torch.manual_seed(123).

#include "tinyattn/dropout.hpp"

#include "golden.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

constexpr Test tests[] = {
    everywhere("of ones: zeros and twos",
               [](Check& check) {
                 Mt19937 generator(hidden(reference::dropout_seed));
                 check.same_bits(dropout(hidden(ones<float, 6, 6>()), reference::dropout_rate, generator), reference::dropout_of_ones);
               }),
    everywhere("of the causal weights: kept ones are doubled",
               [](Check& check) {
                 Mt19937 generator(hidden(reference::dropout_seed));
                 const auto weights = hidden(reference::causal_weights);
                 check.same_bits(dropout(weights, reference::dropout_rate, generator), reference::dropout_of_causal_weights);
               }),
};

}  // namespace

int main() { return run(tests); }
