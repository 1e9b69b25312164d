// SPDX-License-Identifier: MIT
//
// A register tile of a matrix product. Every output element is one chain of fused multiply-adds
// that takes the inner index in rising order, so neither the tile nor the width of the vector shows
// in a bit.
#pragma once

#include "tinyattn/kernel/size.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// A matrix to read, and one to write: element (i, j) lies at data[i * stride + j].
struct Input {
  const float* data;
  std::size_t stride;

  TINYATTN_ALWAYS_INLINE constexpr const float* at(std::size_t i, std::size_t j) const noexcept {
    return data + i * stride + j;
  }
  TINYATTN_ALWAYS_INLINE constexpr Input from(std::size_t i, std::size_t j) const noexcept {
    return {at(i, j), stride};
  }
};
struct Output {
  float* data;
  std::size_t stride;

  TINYATTN_ALWAYS_INLINE constexpr float* at(std::size_t i, std::size_t j) const noexcept {
    return data + i * stride + j;
  }
  TINYATTN_ALWAYS_INLINE constexpr Output from(std::size_t i, std::size_t j) const noexcept {
    return {at(i, j), stride};
  }
  TINYATTN_ALWAYS_INLINE constexpr operator Input() const noexcept { return {data, stride}; }
};

// out[i][j] = initial[j] + the sum over k of a[i][k] * b[k][j], k rising, each step one fma. NaN
// and infinity go through as in the plain loop.
struct Product {
  std::size_t rows, inner, cols;
  Input a;               // [rows, inner]
  Input b;               // [inner, cols]; if the product is Transposed, [cols, inner]
  const float* initial;  // [cols], or nullptr: +0
  Output out;            // [rows, cols]; overwritten; may not overlap a or b
};

// What a tile is like, beside its height and its width in vectors.
struct TileKind {
  bool is_whole = true;        // its last vector is full
  bool is_transposed = false;  // it belongs to a transposed product
  std::size_t steps = 1;       // of k in a turn of its loop; the inner extent is a multiple
};

template <std::size_t Count>
inline constexpr float zeros[Count] = {};

// `count` elements that lie `stride` apart; zeros in the other lanes.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr auto gather(const float* from, std::size_t stride,
                                             std::size_t count) noexcept {
  float lanes[Port::lanes] = {};
  for (std::size_t lane = 0; lane < count; ++lane) lanes[lane] = from[lane * stride];
  return Port::load(lanes);
}

template <TileKind kind, std::size_t Vectors>
constexpr bool is_whole(std::size_t v) noexcept {
  return kind.is_whole || v + 1 < Vectors;
}

// Sets every row of sums to `initial`, or to zero.
template <class Port, TileKind kind, std::size_t Rows, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void initialize_sums(typename Port::vec (&sums)[Rows][Vectors],
                                                      const float* initial,
                                                      std::size_t last) noexcept {
  const bool is_zero = !Port::flash_is_dear && is_null(initial);
  TINYATTN_UNROLL
  for (std::size_t v = 0; v < Vectors; ++v)
    sums[0][v] = is_zero                      ? Port::splat(0.0f)
                 : is_whole<kind, Vectors>(v) ? Port::load(initial + v * Port::lanes)
                                              : Port::load_n(initial + v * Port::lanes, last, 0.0f);
  TINYATTN_UNROLL
  for (std::size_t r = 1; r < Rows; ++r) {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = is_zero ? Port::splat(0.0f) : sums[0][v];
  }
}

// The part of a row of b that belongs to a tile.
template <class Port, TileKind kind, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void load_row(Input b, std::size_t last,
                                               typename Port::vec (&row)[Vectors]) noexcept {
  TINYATTN_UNROLL
  for (std::size_t v = 0; v < Vectors; ++v)
    if constexpr (kind.is_transposed)
      row[v] = gather<Port>(b.at(v * Port::lanes, 0), b.stride,
                            is_whole<kind, Vectors>(v) ? Port::lanes : last);
    else
      row[v] = is_whole<kind, Vectors>(v) ? Port::load(b.at(0, v * Port::lanes))
                                          : Port::load_n(b.at(0, v * Port::lanes), last, 0.0f);
}

// sums[r] += a[r][k] * b[k] for every k. There are few registers for addresses: of a high tile
// every third row of a has a pointer, and the two behind it lie a multiple of the stride away,
// which is part of an address on x86.
template <class Port, TileKind kind, std::size_t Rows, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void multiply_add(typename Port::vec (&sums)[Rows][Vectors],
                                                   std::size_t inner, Input a, Input b,
                                                   std::size_t last) noexcept {
  constexpr std::size_t apart = Rows > 8 ? 3 : 1;
  const float* factors[(Rows + apart - 1) / apart];
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; r += apart) {
    factors[r / apart] = a.at(r, 0);
    if (!__builtin_constant_p(a.stride)) TINYATTN_FORGET_ORIGIN(factors[r / apart]);
  }
  std::size_t k = 0;
  const auto step = [&]() TINYATTN_INLINE_LAMBDA {
    typename Port::vec row[Vectors];
    load_row<Port, kind>(b, last, row);
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto factor = Port::broadcast(factors[r / apart][r % apart * a.stride + k]);
      TINYATTN_UNROLL
      for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = Port::fma(factor, row[v], sums[r][v]);
    }
    ++k;
  };
  const std::size_t next = kind.is_transposed ? 1 : b.stride;
  if (inner == 0) return;
  while (true) {
    step();
    if constexpr (kind.steps > 1) {
      TINYATTN_UNROLL
      for (std::size_t s = 1; s < kind.steps; ++s) {
        b.data += next;
        step();
      }
    }
    if (k == inner) return;
    b.data += next;  // not behind the last row: there is none
  }
}

template <class Port, TileKind kind, std::size_t Rows, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void store_sums(const typename Port::vec (&sums)[Rows][Vectors],
                                                 Output out, std::size_t last) noexcept {
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v)
      if (is_whole<kind, Vectors>(v))
        Port::store(out.at(r, v * Port::lanes), sums[r][v]);
      else
        Port::store_n(out.at(r, v * Port::lanes), sums[r][v], last);
  }
}

// out = initial + a . b for `Rows` x `Vectors` vectors, of which all operands start at the tile's
// corner; `last` columns fill the last vector, or a part of it. A port may bring whole tiles of its
// own.
template <class Port, std::size_t Rows, std::size_t Vectors, TileKind kind = TileKind{}>
TINYATTN_ALWAYS_INLINE constexpr void tile(const float* initial, Input a, Input b, Output out,
                                           std::size_t inner,
                                           std::size_t last = Port::lanes) noexcept {
  if constexpr (kind.is_whole && !kind.is_transposed && requires {
                  Port::template tile<Rows, Vectors>(initial, initial, 0, initial, 0, out.data, 0,
                                                     0);
                }) {
    Port::template tile<Rows, Vectors>(
        !Port::flash_is_dear && is_null(initial) ? zeros<Vectors * Port::lanes> : initial, a.data,
        a.stride, b.data, b.stride, out.data, out.stride, inner);
  } else {
    typename Port::vec sums[Rows][Vectors];
    initialize_sums<Port, kind>(sums, initial, last);
    multiply_add<Port, kind>(sums, inner, a, b, last);
    store_sums<Port, kind>(sums, out, last);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
