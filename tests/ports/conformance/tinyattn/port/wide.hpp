// SPDX-License-Identifier: MIT
//
// A port of any width in plain C++: with it every machine tests what kernels do with several lanes, with parts of a vector and with other
// tile sizes. -DTINYATTN_PORT=wide -DTINYATTN_WIDE=Eight makes it the build's port. Its operations are not inlined, since kernels compile
// slowly with inlined ones; the rest is up to the compiler.
#pragma once

#include "tinyattn/port/contract.hpp"
#include "tinyattn/port/scalar.hpp"

#undef TINYATTN_ALWAYS_INLINE
#undef TINYATTN_INLINE_LAMBDA
#define TINYATTN_ALWAYS_INLINE inline
#define TINYATTN_INLINE_LAMBDA

#include <cstddef>
#include <cstdint>

namespace tinyattn::test {

using Size = std::size_t;

template <Size Lanes, Size TileVectors, Size BlockRows, bool SharesCode, Size Registers = 8>
struct Wide {
  struct vec {
    float lane[Lanes];
  };
  struct broadcast_operand {
    float x;
  };
  using one_lane = port::scalar;
  static constexpr std::size_t lanes = Lanes;
  static constexpr std::size_t registers = Registers;
  static constexpr std::size_t tile_vectors = TileVectors;
  static constexpr std::size_t block_rows = BlockRows;
  static constexpr std::size_t query_rows = BlockRows;
  static constexpr bool tiles_overlap = SharesCode, shares_code = SharesCode, interleaves_rows = !SharesCode;

  static constexpr vec each(auto compute) noexcept {
    vec v{};
    for (std::size_t i = 0; i < Lanes; ++i) v.lane[i] = compute(i);
    return v;
  }
  [[gnu::noinline]] static constexpr vec each(auto compute, auto... v) noexcept {
    return each([&](std::size_t i) { return compute(v.lane[i]...); });
  }

  [[gnu::noinline]] static constexpr vec load_n(const float* from, Size n, float rest) noexcept {
    return each([=](std::size_t i) { return i < n ? from[i] : rest; });
  }
  static constexpr vec load(const float* from) noexcept { return load_n(from, Lanes, 0.0f); }
  [[gnu::noinline]] static constexpr void store_n(float* to, vec v, std::size_t n) noexcept {
    for (std::size_t i = 0; i < n; ++i) to[i] = v.lane[i];
  }
  static constexpr void store(float* to, vec v) noexcept { store_n(to, v, Lanes); }
  static constexpr broadcast_operand broadcast(float x) noexcept { return {x}; }
  static constexpr vec splat(float x) noexcept { return load_n(nullptr, 0, x); }
  static constexpr float first(vec v) noexcept { return v.lane[0]; }
  template <std::size_t By>
  [[gnu::noinline]] static constexpr vec butterfly(vec v) noexcept {
    return each([&](std::size_t i) { return v.lane[i ^ By]; });
  }
  static constexpr vec fma(vec a, vec b, vec c) noexcept { return each(one_lane::fma, a, b, c); }
  static constexpr vec fma(broadcast_operand a, vec b, vec c) noexcept { return fma(splat(a.x), b, c); }
  static constexpr vec fma(vec a, vec b, broadcast_operand c) noexcept { return fma(a, b, splat(c.x)); }
  static constexpr vec mul(vec a, vec b) noexcept { return each(one_lane::mul, a, b); }
  static constexpr vec mul(vec a, broadcast_operand b) noexcept { return mul(a, splat(b.x)); }
  static constexpr vec add(vec a, vec b) noexcept { return each(one_lane::add, a, b); }
  static constexpr vec add(vec a, broadcast_operand b) noexcept { return add(a, splat(b.x)); }
  static constexpr vec maximum(vec a, vec b) noexcept { return each(one_lane::maximum, a, b); }
  static constexpr vec select_less(vec a, vec b, vec c, vec d) noexcept {
    const auto select = one_lane::select_less;
    return each(select, a, b, c, d);
  }
  static constexpr vec exponent_bits(vec n) noexcept { return each(one_lane::exponent_bits, n); }
};

// A port with its own register tile, of `Height` rows or of any height. An iteration takes two steps of k; an odd step comes first.
template <class Base, Size Height = 0>
struct WithTile : Base {
  using In = const float*;
  template <Size Rows, Size Vectors>
  requires(Height == 0 || (Rows == Height && Vectors == Base::tile_vectors))                      //
      static constexpr void tile(In start, In a, Size a_stride, In b, Size b_stride, float* out,  //
                                 Size out_stride, Size inner) noexcept {
    for (std::size_t r = 0; r < Rows; ++r)
      for (std::size_t j = 0; j < Vectors * Base::lanes; j += Base::lanes) {
        auto sum = Base::load(start + j);
        const auto step = [&](std::size_t k) {
          const auto factor = Base::broadcast(a[r * a_stride + k]);
          sum = Base::fma(factor, Base::load(b + k * b_stride + j), sum);
        };
        if (inner % 2 != 0) step(0);
        for (std::size_t k = inner % 2; k < inner; k += 2) step(k), step(k + 1);
        Base::store(out + r * out_stride + j, sum);
      }
  }
};

// One copy of a kernel for all shapes, a tile of its own, a scatter of vectors, and sums of 16-bit integers.
struct SharingWithTile : WithTile<Wide<4, 2, 3, true>, 3> {
  static constexpr std::size_t row_vectors = 6;
  template <Size Vectors>
  static constexpr void row_tile(const float* start, const float* a, const float* b, Size b_stride, float* out, Size inner) noexcept {
    WithTile<Wide<4, 2, 3, true>>::tile<1, Vectors>(start, a, 0, b, b_stride, out, 0, inner);
  }
  static constexpr std::size_t dot_products = 12;
  static constexpr void dots(const float* start, const float* a, const float* b, Size b_stride, float* out, Size inner) noexcept {
    for (std::size_t j = 0; j < dot_products; ++j) {
      out[j] = start[j];
      for (std::size_t k = 0; k < inner; ++k) out[j] = one_lane::fma(a[k], b[j * b_stride + k], out[j]);
    }
  }
  static constexpr std::size_t outer_rows = 3;
  template <Size Rows, Size Vectors>
  requires(Rows == 3 && Vectors == 2) static constexpr void outer_tile(const float* a, Size a_stride, const float* b, Size b_stride,
                                                                       float* out, Size out_stride, Size inner) noexcept {
    for (std::size_t i = 0; i < Rows; ++i)
      for (std::size_t j = 0; j < Vectors * lanes; ++j)
        for (std::size_t k = 0; k < inner; ++k)
          out[i * out_stride + j] = one_lane::fma(a[k * a_stride + i], b[k * b_stride + j], out[i * out_stride + j]);
  }
  static constexpr void scatter(float* to, std::size_t step, vec v) noexcept {
    for (std::size_t i = 0; i < lanes; ++i) to[i * step] = v.lane[i];
  }
  static constexpr std::size_t integer_rows = 3;
  static constexpr void pack_row(std::int32_t* q, Size terms) noexcept {
    for (std::size_t k = 0; k < terms / 2; ++k) q[k] = static_cast<std::int32_t>((q[2 * k] & 0xffff) | std::uint32_t(q[2 * k + 1]) << 16);
  }
  template <Size Rows>
  static constexpr void integer_dots(const std::int32_t* q, Size q_stride, const std::uint8_t* codes, Size stride, Size terms, Size cols,
                                     std::uint32_t* sums) noexcept {
    for (std::size_t r = 0; r < Rows; ++r, q += q_stride)
      for (std::size_t j = 0; j < cols; ++j, ++sums) {
        *sums = 0;
        for (std::size_t k = 0; k < terms; ++k)
          *sums += static_cast<std::uint32_t>(static_cast<std::int16_t>(q[k / 2] >> k % 2 * 16) * codes[j * stride + k]);
      }
  }
};

// A port with `interleave`, and a port of half its lanes for short rows, down to four lanes.
template <std::size_t Lanes>
struct WideOrNarrow : Wide<Lanes, 2, 2, false, 32> {
  using half = WideOrNarrow<Lanes / 2>;
  using vec = typename Wide<Lanes, 2, 2, false, 32>::vec;

  [[gnu::noinline]] static constexpr void interleave(vec a, vec b, vec& low, vec& high) noexcept {
    for (std::size_t i = 0; i < Lanes; ++i) {
      low.lane[i] = (i % 2 == 0 ? a : b).lane[i / 2];
      high.lane[i] = (i % 2 == 0 ? a : b).lane[Lanes / 2 + i / 2];
    }
  }
};

template <>
struct WideOrNarrow<2>;

// One lane, for machines where flash is not scarce.
struct OneLane : port::scalar {
  static constexpr bool tiles_overlap = false, shares_code = false, interleaves_rows = true;
};

using Sharing = Wide<4, 2, 3, true>;                  // one copy of a kernel for all shapes
using OwnTiles = WithTile<Wide<4, 3, 3, false, 24>>;  // a tile of its own for every shape
using Eight = Wide<8, 1, 5, false>;
using Narrowing = WideOrNarrow<16>;  // eight or four lanes where rows are short

template <class... Ports>
inline constexpr bool keep_the_contract = (port::contract<Ports> && ...);
static_assert(keep_the_contract<Sharing, SharingWithTile, OwnTiles, Eight, Narrowing, Narrowing::half::half, OneLane>);

}  // namespace tinyattn::test

#if defined(TINYATTN_WIDE)
namespace tinyattn::port {
using wide = test::TINYATTN_WIDE;
}  // namespace tinyattn::port
#endif
