// SPDX-License-Identifier: MIT
//
// Rows of every length around the sixteen lanes of a sum: softmax at several scales, and norms.
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
};

}  // namespace

int main() { return run(tests); }
