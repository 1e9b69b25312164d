// SPDX-License-Identifier: MIT
//
// Attention of shapes around blocks, tiles and the lanes of a sum.
#include <utility>

#include "plain.hpp"
#include "tinyattn/attention.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
[[gnu::noinline]] void check_shape(Check& check) {
  const auto q = hidden(numbers<Matrix<float, Tokens, KeyDim>>(Tokens));
  const auto k = hidden(numbers<Matrix<float, SourceTokens, KeyDim>>(SourceTokens + 50));
  const auto v = hidden(numbers<Matrix<float, SourceTokens, ValueDim>>(ValueDim + 100));
  const auto check_mask = [&](const auto& mask, auto sees) {
    check_outputs(check, plain_attention(q, k, v, sees),
                  [&](auto& out, auto& weights) { scaled_dot_product_attention(q, k, v, mask, out, weights); });
  };
  check_mask(NoMask{}, sees_everything);
  check_mask(Causal{}, sees_the_past);
}

constexpr Test tests[] = {
    at_run_time("shapes that are small somewhere, and shapes of several blocks",
                [](Check& check) {
                  check_shape<1, 1, 1, 1>(check);
                  check_shape<1, 33, 2, 3>(check);
                  check_shape<33, 1, 3, 2>(check);
                  check_shape<2, 2, 8, 1>(check);
                  check_shape<3, 16, 5, 16>(check);
                  check_shape<4, 15, 6, 17>(check);
                  check_shape<9, 17, 7, 15>(check);
                  check_shape<15, 15, 8, 8>(check);
                  check_shape<16, 32, 4, 4>(check);
                  check_shape<17, 17, 1, 33>(check);
                  check_shape<31, 33, 8, 5>(check);
                  check_shape<33, 31, 3, 9>(check);
                }),
    at_run_time("keys and features around 48 and 64",
                [](Check& check) {
                  [&]<std::size_t... Keys>(std::index_sequence<Keys...>) { (check_shape<5, Keys, 3, 1>(check), ...); }
                  (std::index_sequence<47, 48, 49, 63, 64, 65>{});
                  [&]<std::size_t... Features>(std::index_sequence<Features...>) { (check_shape<3, 5, 4, Features>(check), ...); }
                  (std::index_sequence<47, 48, 49>{});
                }),
};

}  // namespace

int main() { return run(tests); }
