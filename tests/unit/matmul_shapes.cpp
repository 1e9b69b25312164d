// SPDX-License-Identifier: MIT
//
// Products of every shape from 1 to 9.
#include "product_shapes.hpp"

using namespace tinyattn::test;

namespace {

constexpr Test tests[] = {
    at_run_time("1 to 9 in every extent", [](Check& check) { check_latin_square<Product, 1, 2, 3, 4, 5, 6, 7, 8, 9>(check); }),
};

}  // namespace

int main() { return run(tests); }
