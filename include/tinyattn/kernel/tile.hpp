// SPDX-License-Identifier: MIT
//
// A register tile of a matrix product. Every output element is one sequential sum of fused
// multiply-adds, in rising order of the inner index, so that neither the tile nor the width of the
// vector changes a bit.
#pragma once

#include "tinyattn/kernel/operand.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Properties of a tile besides its height and its width in vectors.
struct TileKind {
  bool is_whole = true;   // its last vector is full
  std::size_t steps = 1;  // by how many steps of k the loop is unrolled; `inner` is a multiple
};

template <std::size_t Count>
inline constexpr float zeros[Count] = {};

template <TileKind kind, std::size_t Vectors>
constexpr bool is_whole(std::size_t v) noexcept {
  return kind.is_whole || v + 1 < Vectors;
}

// Loads a row of `Vectors` vectors of an operand; `last` columns fill the last vector.
template <class Port, TileKind kind, std::size_t Vectors>
TINYATTN_KERNEL void load_row(const auto& from, std::size_t last,
                              typename Port::vec (&row)[Vectors]) noexcept {
  TINYATTN_UNROLL
  for (std::size_t v = 0; v < Vectors; ++v)
    row[v] = is_whole<kind, Vectors>(v) ? from.template load<Port>(v * Port::lanes)
                                        : from.template load_n<Port>(v * Port::lanes, last);
}

// Sets every row of sums to the bias, or to zero.
template <class Port, TileKind kind, std::size_t Rows, std::size_t Vectors>
TINYATTN_KERNEL void initialize_sums(typename Port::vec (&sums)[Rows][Vectors], Bias bias,
                                     std::size_t last) noexcept {
  const bool is_zero = !Port::tiles_overlap && is_null(bias.data);
  if (!is_zero) load_row<Port, kind>(Dense{bias.data, 0}, last, sums[0]);
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = is_zero ? Port::splat(0.0f) : sums[0][v];
  }
}
template <class Port, TileKind kind, std::size_t Rows, std::size_t Vectors>
TINYATTN_KERNEL void initialize_sums(typename Port::vec (&sums)[Rows][Vectors], Dense initial,
                                     std::size_t last) noexcept {
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) load_row<Port, kind>(initial.from(r, 0), last, sums[r]);
}

// sums[r] += a[r][k] * b[k] for every k. Registers for addresses are scarce: in a tile of more than
// eight rows only every third row of a has a pointer. The two rows after it lie one and two strides
// away; x86 can add a multiple of a register to an address.
template <class Port, TileKind kind, std::size_t Rows, std::size_t Vectors, class Left, class Right>
TINYATTN_KERNEL void multiply_add(typename Port::vec (&sums)[Rows][Vectors], std::size_t inner,
                                  const Left& a, Right b, std::size_t last) noexcept {
  constexpr std::size_t apart = Rows > 8 ? 3 : 1;
  Left rows[(Rows + apart - 1) / apart];
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; r += apart) {
    rows[r / apart] = a.from(r, 0);
    if constexpr (std::same_as<Left, Dense>)
      if (!__builtin_constant_p(a.stride)) TINYATTN_FORGET_ORIGIN(rows[r / apart].data);
  }
  if (inner == 0) return;
  for (std::size_t k = 0;;) {
    TINYATTN_UNROLL
    for (std::size_t step = 0; step < kind.steps; ++step) {
      if (step != 0) b = b.from(1, 0);
      typename Port::vec row[Vectors];
      load_row<Port, kind>(b, last, row);
      TINYATTN_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        const auto factor = Port::broadcast(rows[r / apart].template element<Port>(r % apart, k));
        TINYATTN_UNROLL
        for (std::size_t v = 0; v < Vectors; ++v)
          sums[r][v] = Port::fma(factor, row[v], sums[r][v]);
      }
      ++k;
    }
    if (k == inner) return;
    b = b.from(1, 0);  // not after the last row: there is none
  }
}

template <class Port, TileKind kind, std::size_t Rows, std::size_t Vectors>
TINYATTN_KERNEL void store_sums(const typename Port::vec (&sums)[Rows][Vectors], Output out,
                                std::size_t last) noexcept {
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

// Returns the initial accumulators of `Width` columns from row i and column j on. Without a bias
// they are zeros in memory where tiles have one size; elsewhere they are nullptr, and the tile
// clears its registers.
template <class Port, std::size_t Width>
TINYATTN_KERNEL auto initial_at(const auto& p, std::size_t i, std::size_t j) noexcept {
  if constexpr (requires { p.initial.stride; }) {
    return p.initial.from(i, j);
  } else {
    const float* const none = Port::tiles_overlap ? zeros<Width> : nullptr;
    return Bias(is_null(p.initial.data) ? none : p.initial.data + j);
  }
}

// Computes the tile of `Rows` x `Vectors` vectors from row i and column j of a product on; `last`
// columns fill the last vector, and `a` is p.a from row i on. A port may have tiles of its own for
// whole vectors.
template <class Port, std::size_t Rows, std::size_t Vectors, TileKind kind = TileKind{},
          class AnyProduct>
TINYATTN_KERNEL void tile(const AnyProduct& p, const auto& a, std::size_t i, std::size_t j,
                          std::size_t last = Port::lanes) noexcept {
  if constexpr (std::same_as<AnyProduct, Product<>> && kind.is_whole &&
                requires(const float* from, float* to) {
                  Port::template tile<Rows, Vectors>(from, from, 0, from, 0, to, 0, 0);
                }) {
    const bool is_zero = is_null(p.initial.data);
    Port::template tile<Rows, Vectors>(is_zero ? zeros<Vectors * Port::lanes> : p.initial.data + j,
                                       a.data, a.stride, p.b.at(0, j), p.b.stride, p.out.at(i, j),
                                       p.out.stride, p.inner);
  } else {
    typename Port::vec sums[Rows][Vectors];
    initialize_sums<Port, kind>(sums, initial_at<Port, Vectors * Port::lanes>(p, i, j), last);
    multiply_add<Port, kind>(sums, p.inner, a, p.b.from(0, j), last);
    store_sums<Port, kind>(sums, p.out.from(i, j), last);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
