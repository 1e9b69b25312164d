// SPDX-License-Identifier: MIT
//
// A layer's heads over ports of many widths, tiles and blocks that no machine need have: none of these may show in a bit.
#include "calls.hpp"

#include "attention.hpp"
#include "wide.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr Test tests[] = {
    at_run_time("four lanes, one copy of a kernel for all shapes", check_heads<Sharing>),
    at_run_time("four lanes, one copy of a kernel in few steps", check_heads<InFewSteps>),
    at_run_time("four lanes, factors taken from lanes", check_heads<ByLane>),
    at_run_time("eight lanes", check_heads<Eight>),
    at_run_time("sixteen lanes, eight or four where rows are short", check_heads<Narrowing>),
    at_run_time("short rows, four lanes, one copy of a kernel for all shapes", check_heads<Sharing, short_layer_config>),
    at_run_time("short rows, four lanes, one copy of a kernel in few steps", check_heads<InFewSteps, short_layer_config>),
    at_run_time("short rows, sixteen lanes, eight or four where rows are short", check_heads<Narrowing, short_layer_config>),
};

}  // namespace

int main() { return run(tests); }
