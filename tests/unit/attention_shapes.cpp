// SPDX-License-Identifier: MIT
//
// Attention of shapes around blocks, tiles and the lanes of a sum, against plain loops bit for bit, between guards.
#include "plain.hpp"
#include "support/check.hpp"
#include "tinyattn/attention.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
[[gnu::noinline]] void check_shape(Check& check) {
  const auto q = hidden(numbers<Matrix<float, Tokens, KeyDim>>(Tokens));
  const auto k = hidden(numbers<Matrix<float, SourceTokens, KeyDim>>(SourceTokens + 50));
  const auto v = hidden(numbers<Matrix<float, SourceTokens, ValueDim>>(ValueDim + 100));
  Guarded<Matrix<float, Tokens, ValueDim>> out;
  Guarded<Matrix<float, Tokens, SourceTokens>> weights;
  scaled_dot_product_attention(q, k, v, NoMask{}, out.tensor, weights.tensor);
  const auto all = plain_attention(q, k, v, sees_everything);
  check.same_bits(weights.tensor, all.weights);
  check.same_bits(out.tensor, all.context);
  scaled_dot_product_attention(q, k, v, Causal{}, out.tensor, weights.tensor);
  const auto past = plain_attention(q, k, v, sees_the_past);
  check.same_bits(weights.tensor, past.weights);
  check.same_bits(out.tensor, past.context);
  check.that(out.guards_hold() && weights.guards_hold());
}

constexpr Test tests[] = {
    at_run_time("shapes that are small somewhere",
                [](Check& check) {
                  check_shape<1, 1, 1, 1>(check);
                  check_shape<1, 33, 2, 3>(check);
                  check_shape<33, 1, 3, 2>(check);
                  check_shape<2, 2, 8, 1>(check);
                  check_shape<3, 16, 5, 16>(check);
                  check_shape<4, 15, 6, 17>(check);
                }),
    at_run_time("shapes of several blocks",
                [](Check& check) {
                  check_shape<9, 17, 7, 15>(check);
                  check_shape<15, 15, 8, 8>(check);
                  check_shape<16, 32, 4, 4>(check);
                  check_shape<17, 17, 1, 33>(check);
                  check_shape<31, 33, 8, 5>(check);
                  check_shape<33, 31, 3, 9>(check);
                }),
    at_run_time("keys and features around 48 and 64",
                [](Check& check) {
                  check_shape<5, 47, 2, 3>(check);
                  check_shape<5, 48, 2, 3>(check);
                  check_shape<5, 49, 2, 3>(check);
                  check_shape<5, 63, 3, 1>(check);
                  check_shape<5, 64, 3, 1>(check);
                  check_shape<5, 65, 3, 1>(check);
                  check_shape<3, 5, 4, 47>(check);
                  check_shape<3, 5, 4, 48>(check);
                  check_shape<3, 5, 4, 49>(check);
                }),
};

}  // namespace

int main() { return run(tests); }
