// SPDX-License-Identifier: MIT
//
// Two translation units include everything and become one program: nothing is defined twice, and both compute the same.
#include "other_unit.hpp"
#include "support/check.hpp"
#include "tinyattn/tinyattn.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

constexpr Test tests[] = {
    at_run_time("two units compute the same",
                [](Check& check) { check.same_bits(causal_attention(inputs()), causal_attention_in_another_unit()); }),
};

}  // namespace

int main() { return run(tests); }
