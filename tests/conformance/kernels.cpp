// SPDX-License-Identifier: MIT
//
// Every kernel over the port of this build, compared with the scalar port.
#include "attention.hpp"
#include "products.hpp"
#include "rows.hpp"
#include "transposes.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr Test tests[] = {
    at_run_time("products of any shape", check_products_of_any_shape<native_port>),
    at_run_time("products of fixed shapes", check_products_of_fixed_shapes<native_port>),
    at_run_time("rows", check_rows<native_port>),
    at_run_time("transposes", check_transposes<native_port>),
    at_run_time("attention with each mask", check_attention_with_each_mask<native_port>),
    at_run_time("heads, with and without dropout", check_heads<native_port>),
};

}  // namespace

int main() { return run(tests); }
