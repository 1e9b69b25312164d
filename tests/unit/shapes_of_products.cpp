// SPDX-License-Identifier: MIT
//
// Products of every small shape, and of shapes at the multiples of 16 and one off on each side, each of which the compiler specializes.
#include <array>
#include <utility>

#include "catalogue/operations.hpp"
#include "catalogue/twin.hpp"

using namespace tinyattn::test;

namespace {

using Size = std::size_t;

// Rows and columns run over all sizes and, by a Latin square, the inner extent too: any two extents meet in every combination.
template <template <Size, Size, Size> class Product, Size... Sizes>
void latin_square(Check& check) {
  constexpr Size count = sizeof...(Sizes);
  constexpr std::array<Size, count> sizes{Sizes...};
  [&]<Size... Pair>(std::index_sequence<Pair...>) {
    as_in_plain_loops<Product<sizes[Pair / count], sizes[(Pair / count + Pair) % count], sizes[Pair % count]>...>(check);
  }
  (std::make_index_sequence<count * count>{});
}

// Products in which one extent is large and the others small, for each extent.
template <template <Size, Size, Size> class Product, Size... Large>
void one_large(Check& check) {
  as_in_plain_loops<Product<Large, 3, 2>..., Product<5, Large, 1>..., Product<1, 1, Large>..., Product<7, 2, Large>...>(check);
}

constexpr Test tests[] = {
    at_run_time("1 to 9 in every extent", latin_square<Matmul, 1, 2, 3, 4, 5, 6, 7, 8, 9>),
    at_run_time("around 16", latin_square<Matmul, 15, 16, 17>),
    at_run_time("by a transpose, 1 to 5 in every extent", latin_square<MatmulTransposed, 1, 2, 3, 4, 5>),
    at_run_time("by a transpose, 6 to 9 in every extent", latin_square<MatmulTransposed, 6, 7, 8, 9>),
    at_run_time("by a transpose, around 16", latin_square<MatmulTransposed, 15, 16, 17>),
    at_run_time("by a transpose, one extent large, two small", one_large<MatmulTransposed, 16, 31, 33>),
    at_run_time("around 32", latin_square<Matmul, 31, 32, 33>),
    at_run_time("one extent large, two small", one_large<Matmul, 15, 16, 17, 31, 32, 33>),
    at_run_time("one extent around 48, 64, 80", one_large<Matmul, 47, 48, 49, 63, 64, 65, 79, 80, 81>),
    at_run_time("one extent around 96, 112, 128", one_large<Matmul, 95, 96, 97, 111, 112, 113, 127, 128, 129>),
};

}  // namespace

int main() { return run(tests); }
