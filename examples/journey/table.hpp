// SPDX-License-Identifier: MIT
//
// Prints a tensor as PyTorch does: tensor([[0.4306, 1.4551],
//                                        [...]]). All numbers have one width, and four decimals;
// if all of them are whole, they have none, as in 2.
#pragma once

#include <array>
#include <cstddef>

#include "tinyattn/tensor.hpp"

namespace journey {

// `extents` has `rank` entries; rank 0 is one number. PyTorch would use scientific notation, as in
// 1.0000e-05, if the largest number were more than a thousand times the smallest, and would wrap
// rows longer than 80 characters; no table of this example needs either.
void print_tensor(const float* elements, const std::size_t* extents, std::size_t rank);

template <std::size_t... Extents>
void print_tensor(const tinyattn::Tensor<float, Extents...>& tensor) {
  constexpr std::array<std::size_t, sizeof...(Extents)> extents = {Extents...};
  print_tensor(tensor.data(), extents.data(), extents.size());
}

inline void print_tensor(float number) { print_tensor(&number, nullptr, 0); }

}  // namespace journey
