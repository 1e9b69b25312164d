// SPDX-License-Identifier: MIT
//
// Products of every small shape; by a transpose around the sizes of tiles too.
#include "product_shapes.hpp"

using namespace tinyattn::test;

namespace {

constexpr Test tests[] = {
    at_run_time("1 to 9 in every extent", [](Check& check) { check_latin_square<Product<false>, 1, 2, 3, 4, 5, 6, 7, 8, 9>(check); }),
    at_run_time("by a transpose, 1 to 5 in every extent", [](Check& check) { check_latin_square<Product<true>, 1, 2, 3, 4, 5>(check); }),
    at_run_time("by a transpose, 6 to 9 in every extent", [](Check& check) { check_latin_square<Product<true>, 6, 7, 8, 9>(check); }),
    at_run_time("by a transpose, around 16", [](Check& check) { check_latin_square<Product<true>, 15, 16, 17>(check); }),
    at_run_time("by a transpose, one extent large, two small", [](Check& check) { check_one_large<Product<true>, 16, 31, 33>(check); }),
};

}  // namespace

int main() { return run(tests); }
