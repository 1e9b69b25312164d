// SPDX-License-Identifier: MIT
//
// Every kernel over ports of many widths, tiles and blocks that no machine need have: none of these may show in a bit.
#include "calls.hpp"

#include "kernels.hpp"
#include "wide.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr Test tests[] = {
    at_run_time("four lanes, one copy of a kernel for all shapes", check_kernels<Wide<4, 2, 3, true>>),
    at_run_time("a layer whose rows are short, one copy of a kernel for all shapes", check_heads<Wide<4, 2, 3, true>, short_layer_config>),
    at_run_time("four lanes, factors taken from lanes", check_kernels<WideByLane<3>>),
    at_run_time("eight lanes", check_kernels<Wide<8, 1, 5, false>>),
};

}  // namespace

int main() { return run(tests); }
