// SPDX-License-Identifier: MIT
//
// Products over ports of many widths, tiles and blocks that no machine need have: none of these may show in a bit.
#include "calls.hpp"

#include "products.hpp"
#include "wide.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr Test tests[] = {
    at_run_time("products of any shape: four lanes, one copy of a kernel for all shapes", check_products_of_any_shape<Sharing>),
    at_run_time("products of any shape: four lanes, one copy of a kernel in few steps", check_products_of_any_shape<InFewSteps>),
    at_run_time("products of any shape: four lanes, factors taken from lanes", check_products_of_any_shape<ByLane>),
    at_run_time("products of any shape: eight lanes", check_products_of_any_shape<Eight>),
    at_run_time("products of any shape: sixteen lanes, eight or four where rows are short", check_products_of_any_shape<Narrowing>),
    at_run_time("of fixed shapes: four lanes, one copy of a kernel for all shapes", check_products_of_fixed_shapes<Sharing>),
    at_run_time("of fixed shapes: four lanes, one copy of a kernel in few steps", check_products_of_fixed_shapes<InFewSteps>),
    at_run_time("of fixed shapes: four lanes, factors taken from lanes", check_products_of_fixed_shapes<ByLane>),
    at_run_time("of fixed shapes: eight lanes", check_products_of_fixed_shapes<Eight>),
    at_run_time("of fixed shapes: sixteen lanes, eight or four where rows are short", check_products_of_fixed_shapes<Narrowing>),
};

}  // namespace

int main() { return run(tests); }
