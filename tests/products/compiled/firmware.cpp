// SPDX-License-Identifier: MIT
//
// Firmware with SHAPES layers of different shapes, by the headers or, with -DCOMPILED, by the compiled library. Layers are 16 to 128 wide
// with 4 heads, as in small models; the first is 64 wide and has 32 tokens.
#include <cstddef>
#include <utility>

#include "tinyattn/compiled.hpp"

namespace {

using namespace tinyattn;

constexpr std::size_t width(std::size_t n) { return 16 * ((3 * n + 3) % 8 + 1); }

template <std::size_t N>
constexpr AttentionConfig shape{.d_in = width(N), .d_out = width(N), .context_length = N < 8 ? 32 : 16, .num_heads = 4};

template <std::size_t N>
void call() noexcept {
  using Layer = MultiHeadAttention<shape<N>>;
  static Layer layer;
  static Matrix<float, shape<N>.context_length, shape<N>.d_in> x;
  static Matrix<float, shape<N>.context_length, shape<N>.d_out> out;
  static typename Layer::Workspace workspace;
#ifdef COMPILED
  compiled::forward(layer, x, out, workspace);
#else
  layer.forward(x, out, workspace);
#endif
  asm volatile("" : : "r"(&layer), "r"(&x), "r"(&out) : "memory");
}

template <std::size_t... N>
void call_all(std::index_sequence<N...>) noexcept {
  (call<N>(), ...);
}

}  // namespace

extern "C" void entry() { call_all(std::make_index_sequence<SHAPES>{}); }
