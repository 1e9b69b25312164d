// SPDX-License-Identifier: MIT
//
// Prints a tensor as PyTorch does: tensor([[0.4306, 1.4551],
//                                        [...]]). All numbers share a width; whole numbers lose their decimals together.
#pragma once

#include <array>
#include <cstddef>

#include "tinyattn/tensor.hpp"

namespace journey {

// `extents` has `rank` entries; rank 0 is one number. PyTorch would change to 1.0000e-05 if the largest number were more than a
// thousand times the smallest, and wrap rows longer than 80 characters; no table of this example does either.
void print_tensor(const float* elements, const std::size_t* extents, std::size_t rank);

template <std::size_t... Extents>
void print_tensor(const tinyattn::Tensor<float, Extents...>& tensor) {
  constexpr std::array<std::size_t, sizeof...(Extents)> extents = {Extents...};
  print_tensor(tensor.data(), extents.data(), extents.size());
}

inline void print_tensor(float number) { print_tensor(&number, nullptr, 0); }

}  // namespace journey
