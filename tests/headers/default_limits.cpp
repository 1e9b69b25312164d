// SPDX-License-Identifier: MIT
//
// Proves what calling.md says of compilers' default limits: layers of these sizes are evaluated. Inputs have few significant bits, the
// worst case for exact sums.
#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;

namespace {

#if defined(__clang__)
constexpr std::size_t tokens = 12, width = 24;
#elif defined(__ARM_FEATURE_MVE)
constexpr std::size_t tokens = 15, width = 48;
#else
constexpr std::size_t tokens = 16, width = 48;
#endif

using Layer = MultiHeadAttention<AttentionConfig{.d_in = width, .d_out = width, .context_length = tokens, .num_heads = 4}>;

constexpr auto layer = [] {
  Layer drawn{};
  Mt19937 generator(123);
  initialize(drawn, generator);
  return drawn;
}();
constexpr auto out = layer(full<float, tokens, width>(0.5f));

// All tokens are equal, so all contexts are.
static_assert(out(0, 0) == out(1, 0) && out(0, 0) != 0.0f);

}  // namespace

int main() { return 0; }
