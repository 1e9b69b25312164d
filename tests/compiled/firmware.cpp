// SPDX-License-Identifier: MIT
//
// A firmware with SHAPES layers of different shapes, by the headers or, with -DCOMPILED, by the compiled library.
// With -DUSUAL they are 16 to 128 wide with 4 heads, the first is T1; else they are small and odd.
#include <cstddef>
#include <utility>

#include "tinyattn/compiled.hpp"

namespace {

using namespace tinyattn;

#ifdef USUAL
constexpr std::size_t width(std::size_t n) { return 16 * ((3 * n + 3) % 8 + 1); }

template <std::size_t N>
constexpr AttentionConfig shape{.d_in = width(N), .d_out = width(N), .context_length = N < 8 ? 32 : 16, .num_heads = 4};
#else
template <std::size_t N>
constexpr AttentionConfig shape{.d_in = 8 + 4 * N, .d_out = 4 * (N % 4 + 2), .context_length = 8 + 3 * N, .num_heads = N % 2 == 0 ? 2 : 4};
#endif

template <std::size_t N>
void call() noexcept {
  using Layer = MultiHeadAttention<shape<N>>;
  static Layer layer;
  static Matrix<float, shape<N>.context_length, shape<N>.d_in> x;
  static Matrix<float, shape<N>.context_length, shape<N>.d_out> out;
#ifdef COMPILED
  static compiled::Workspace<Layer> workspace;
  compiled::forward(layer, x, out, workspace);
#else
  static typename Layer::Workspace workspace;
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
