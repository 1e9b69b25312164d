// SPDX-License-Identifier: MIT
//
// Rows and transposes over ports of many widths, tiles and blocks that no machine need have: none of these may show in a bit.
#include "calls.hpp"

#include "rows.hpp"
#include "transposes.hpp"
#include "wide.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr Test tests[] = {
    at_run_time("four lanes, one copy of a kernel for all shapes", check_rows<Sharing>),
    at_run_time("four lanes, one copy of a kernel in few steps", check_rows<InFewSteps>),
    at_run_time("four lanes, factors taken from lanes", check_rows<ByLane>),
    at_run_time("eight lanes", check_rows<Eight>),
    at_run_time("sixteen lanes, eight or four where rows are short", check_rows<Narrowing>),
    at_run_time("a transpose float by float", check_transposes<Eight>),
    at_run_time("a transpose in scattered vectors", check_transposes<InFewSteps>),
    at_run_time("a transpose in squares of vectors", check_transposes<Narrowing>),
};

}  // namespace

int main() { return run(tests); }
