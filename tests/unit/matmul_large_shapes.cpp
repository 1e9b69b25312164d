// SPDX-License-Identifier: MIT
//
// Products around the multiples of 16, one off each side: every extent up to 33, one of them up to 129.
#include "product_shapes.hpp"

using namespace tinyattn::test;

namespace {

constexpr Test tests[] = {
    at_run_time("around 16", [](Check& check) { check_latin_square<Product<false>, 15, 16, 17>(check); }),
    at_run_time("around 32", [](Check& check) { check_latin_square<Product<false>, 31, 32, 33>(check); }),
    at_run_time("one extent large, two small", [](Check& check) { check_one_large<Product<false>, 15, 16, 17, 31, 32, 33>(check); }),
    at_run_time("one extent around 48, 64, 80",
                [](Check& check) { check_one_large<Product<false>, 47, 48, 49, 63, 64, 65, 79, 80, 81>(check); }),
    at_run_time("one extent around 96, 112, 128",
                [](Check& check) { check_one_large<Product<false>, 95, 96, 97, 111, 112, 113, 127, 128, 129>(check); }),
};

}  // namespace

int main() { return run(tests); }
