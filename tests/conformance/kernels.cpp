// SPDX-License-Identifier: MIT
//
// Checks the kernels of products and rows over the port of this build, for shapes that the catalogue does not have.
#include "products.hpp"
#include "rows.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr Test tests[] = {
    at_run_time("products of any shape, of one row, and tiny ones", check_products<native_port>),
    at_run_time("rows", check_rows<native_port>),
    at_run_time("transposes", check_transposes<native_port>),
};

}  // namespace

int main() { return run(tests); }
