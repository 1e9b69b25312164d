// SPDX-License-Identifier: MIT
//
// Attention with each mask over ports of many widths, tiles and blocks that no machine need have: none of these may show in a bit.
#include "calls.hpp"

#include "attention.hpp"
#include "wide.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr Test tests[] = {
    at_run_time("four lanes, one copy of a kernel for all shapes", check_attention_with_each_mask<Sharing>),
    at_run_time("four lanes, one copy of a kernel in few steps", check_attention_with_each_mask<InFewSteps>),
    at_run_time("four lanes, factors taken from lanes", check_attention_with_each_mask<ByLane>),
    at_run_time("eight lanes", check_attention_with_each_mask<Eight>),
    at_run_time("sixteen lanes, eight or four where rows are short", check_attention_with_each_mask<Narrowing>),
};

}  // namespace

int main() { return run(tests); }
