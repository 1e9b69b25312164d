// SPDX-License-Identifier: MIT
//
// Checks of arguments that the functions of tinyattn.h and tinyattn_models.h share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tinyattn::compiled {

// The maximum number of floats in an object, which has no more than PTRDIFF_MAX bytes.
constexpr std::size_t most_floats = static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(float);

// Whether the sizes of a matrix are valid: none is 0, and it has no more than `most` elements.
constexpr bool is_matrix(std::size_t rows, std::size_t cols,
                         std::size_t most = most_floats) noexcept {
  return rows != 0 && cols != 0 && rows <= most / cols;
}

constexpr bool are_valid(const auto*... arrays) noexcept { return (... && (arrays != nullptr)); }

}  // namespace tinyattn::compiled
