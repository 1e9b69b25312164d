// SPDX-License-Identifier: MIT
//
// The tile of an outer product: `a` is transposed as it is stored.
#pragma once

#include "tinyattn/kernel/tile.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// sums[r][v] += a[k][r] * b[k][v], k rising. Elements of `a` for one k lie next to each other.
template <class Port, TileKind kind, std::size_t Rows, std::size_t Vectors>
TINYATTN_KERNEL void multiply_add_outer(typename Port::vec (&sums)[Rows][Vectors],
                                        std::size_t inner, Transposed<> a, Dense b,
                                        std::size_t last) noexcept {
  if (inner == 0) return;
  Dense elements = a.stored;
  while (true) {
    typename Port::vec row[Vectors];
    load_row<Port, kind>(b, last, row);
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto broadcast = Port::broadcast(elements.data[r]);
      TINYATTN_UNROLL
      for (std::size_t v = 0; v < Vectors; ++v)
        sums[r][v] = Port::fma(broadcast, row[v], sums[r][v]);
    }
    if (--inner == 0) return;
    elements = elements.from(1, 0);  // not after the last row: there is none
    b = b.from(1, 0);
  }
}

// Computes a tile as that of any product is. A port may have tiles of its own for whole vectors,
// which go on from what the output holds.
template <class Port, std::size_t Rows, std::size_t Vectors, TileKind kind = TileKind{}>
TINYATTN_KERNEL void tile(const Product<Transposed<>, Dense, Dense>& p, Transposed<> a,
                          std::size_t i, std::size_t j, std::size_t last = Port::lanes) noexcept {
  if constexpr (kind.is_whole && requires(const float* from, float* to) {
                  Port::template outer_tile<Rows, Vectors>(from, 0, from, 0, to, 0, 0);
                }) {
    Port::template outer_tile<Rows, Vectors>(a.stored.data, a.stored.stride, p.b.at(0, j),
                                             p.b.stride, p.out.at(i, j), p.out.stride, p.inner);
  } else {
    typename Port::vec sums[Rows][Vectors];
    initialize_sums<Port, kind>(sums, initial_at<Port, Vectors * Port::lanes>(p, i, j), last);
    multiply_add_outer<Port, kind>(sums, p.inner, a, p.b.from(0, j), last);
    store_sums<Port, kind>(sums, p.out.from(i, j), last);
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
