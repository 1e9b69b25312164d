// SPDX-License-Identifier: MIT
//
// Rows of every length around the sixteen lanes of a sum, at several scales; attention and layers around blocks, tiles and lanes.
#include <utility>

#include "catalogue/models.hpp"
#include "catalogue/operations.hpp"
#include "catalogue/twin.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

template <std::size_t First, std::size_t Count>
void lengths(Check& check) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { as_in_plain_loops<SoftmaxWithScales<First + I>...>(check); }
  (std::make_index_sequence<Count>{});
}

// With no mask, and causal.
template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
void attend(Check& check) {
  as_in_plain_loops<Attention<NoMask, Tokens, SourceTokens, KeyDim, ValueDim>, Attention<Causal, Tokens, SourceTokens, KeyDim, ValueDim>>(
      check);
}

constexpr Test tests[] = {
    at_run_time("softmax of 1 to 35", lengths<1, 35>),
    at_run_time("softmax around 48, 64, 80, 96, 112 and 128",
                [](Check& check) {
                  lengths<47, 3>(check), lengths<63, 3>(check), lengths<79, 3>(check);
                  lengths<95, 3>(check), lengths<111, 3>(check), lengths<127, 3>(check);
                }),
    at_run_time("norms of 1 to 35 features, and of more",
                [](Check& check) {
                  [&]<std::size_t... I>(std::index_sequence<I...>) {
                    as_in_plain_loops<Normalized<LayerNorm<I + 1>, I + 1>..., Normalized<RmsNorm<I + 1>, I + 1>...>(check);
                  }
                  (std::make_index_sequence<35>{});
                  as_in_plain_loops<Normalized<LayerNorm<64>, 64>, Normalized<RmsNorm<100>, 100>>(check);
                }),
    at_run_time("attention of shapes that are small somewhere, and of several blocks",
                [](Check& check) {
                  attend<1, 1, 1, 1>(check), attend<1, 33, 2, 3>(check), attend<33, 1, 3, 2>(check), attend<2, 2, 8, 1>(check);
                  attend<3, 16, 5, 16>(check), attend<4, 15, 6, 17>(check), attend<9, 17, 7, 15>(check), attend<15, 15, 8, 8>(check);
                  attend<16, 32, 4, 4>(check), attend<17, 17, 1, 33>(check), attend<31, 33, 8, 5>(check), attend<33, 31, 3, 9>(check);
                }),
    at_run_time("keys and features around 48 and 64",
                [](Check& check) {
                  attend<5, 47, 3, 1>(check), attend<5, 48, 3, 1>(check), attend<5, 49, 3, 1>(check), attend<5, 63, 3, 1>(check);
                  attend<5, 64, 3, 1>(check), attend<5, 65, 3, 1>(check);
                  attend<3, 5, 4, 47>(check), attend<3, 5, 4, 48>(check), attend<3, 5, 4, 49>(check);
                }),
};

}  // namespace

int main() { return run(tests); }
