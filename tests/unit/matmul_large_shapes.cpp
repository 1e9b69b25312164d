// SPDX-License-Identifier: MIT
//
// Products around the sizes of tiles: one off each side of 16 and 32.
#include "product_shapes.hpp"

using namespace tinyattn::test;

namespace {

constexpr Test tests[] = {
    at_run_time("around 16", [](Check& check) { check_latin_square<Product, 15, 16, 17>(check); }),
    at_run_time("around 32", [](Check& check) { check_latin_square<Product, 31, 32, 33>(check); }),
    at_run_time("one extent large, two small", [](Check& check) { check_one_large<Product, 15, 16, 17, 31, 32, 33>(check); }),
};

}  // namespace

int main() { return run(tests); }
