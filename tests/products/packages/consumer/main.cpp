// SPDX-License-Identifier: MIT
//
// A user's program, on a PC or as firmware. It exits with 0 if its layers, by the headers and by the compiled library, have the bits that
// the compiler computed: one layer with floats, and the same with int8 weights and an int8 cache.
#include <tinyattn/compiled.hpp>
#include <tinyattn/tinyattn.hpp>

using namespace tinyattn;

namespace {

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 2}>;
using Int8Layer = MultiHeadAttention<AttentionConfig{
    .d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 2, .weights = Weights::int8, .cache = Weights::int8}>;
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

constexpr Int8Layer in_int8(const Layer& layer) {
  return {quantize(layer.query), quantize(layer.key), quantize(layer.value), quantize(layer.out_proj)};
}

constexpr Rows with_cache(const Int8Layer& layer, const Rows& x) {
  Int8Layer::Cache cache;
  Int8Layer::Cache::Workspace workspace{};
  Rows out{};
  return layer.forward(x, cache, out, workspace) == Status::ok ? out : Rows{};
}

constexpr Call known = drawn(123);
constexpr Int8Layer known_int8 = in_int8(known.layer);
constexpr Rows expected = known.layer(known.x), expected_int8 = known_int8(known.x), expected_with_cache = with_cache(known_int8, known.x);
volatile std::uint32_t seed = 123;  // unknown to the optimizer

template <class AnyLayer>
bool gives(const Rows& expected_rows, const AnyLayer& layer, const Rows& x) {
  static typename AnyLayer::Workspace workspace;
  Rows by_headers{}, by_library{};
  layer.forward(x, by_headers, workspace);
  compiled::forward(layer, x, by_library, workspace);
  return by_headers == expected_rows && by_library == expected_rows;
}

}  // namespace

int main() {
  const Call call = drawn(seed);
  const Int8Layer layer = in_int8(call.layer);
  const bool agree = gives(expected, call.layer, call.x) && gives(expected_int8, layer, call.x);
  return agree && with_cache(layer, call.x) == expected_with_cache ? 0 : 1;
}
