// SPDX-License-Identifier: MIT
//
// x . weight + bias, for a layer or for some of its outputs.
#pragma once

#include "tinyattn/kernel/matmul.hpp"

#include <cstddef>

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// A linear layer as kernels take it: `start` is Zero, or the Bias.
template <std::size_t In, std::size_t Out, std::size_t Stride, class Start>
struct Projection {
  RowMajor<const float, Extent<Stride>> weight;
  Start start;

  // The `Count` outputs from output `first` on.
  template <std::size_t Count>
  constexpr Projection<In, Count, Stride, Start> outputs(std::size_t first) const noexcept {
    return {weight.from(0, first), start.from(first)};
  }
};

// Stands where a layer has no projection.
struct NoProjection {};

// out = x . weight + bias, for `rows` rows of x.
template <class Port, std::size_t In, std::size_t Out, std::size_t Stride, class Start>
constexpr void project(auto rows, const auto& x, const Projection<In, Out, Stride, Start>& to, const auto& out) noexcept {
  matmul<Port>(Product{rows, Extent<In>{}, Extent<Out>{}, x, to.weight, to.start, out});
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel
