// SPDX-License-Identifier: MIT
//
// Someone else's program, on a PC or as firmware. It ends with 0 if the layer that it computes, by the headers and by the compiled
// library, has the bits that the compiler computed.
#include <tinyattn/compiled.hpp>
#include <tinyattn/tinyattn.hpp>

using namespace tinyattn;

namespace {

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 2}>;
using Rows = Matrix<float, 6, 8>;

struct Call {
  Layer layer;
  Rows x;
};

constexpr Call drawn(std::uint32_t seed) {
  Call call{};
  Philox4x32 generator(seed);
  initialize(call.layer, generator);
  rand(generator, call.x);
  return call;
}

constexpr Rows computed(const Call& call) { return call.layer(call.x); }

constexpr Rows expected = computed(drawn(123));
volatile std::uint32_t seed = 123;  // which the optimizer does not know
Layer::Workspace workspace;

}  // namespace

int main() {
  const Call call = drawn(seed);
  Rows by_headers{}, by_library{};
  call.layer.forward(call.x, by_headers, workspace);
  compiled::forward(call.layer, call.x, by_library, workspace);
  return by_headers == expected && by_library == expected ? 0 : 1;
}
