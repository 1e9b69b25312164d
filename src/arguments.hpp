// SPDX-License-Identifier: MIT
//
// What the functions of tinyattn.h and tinyattn_models.h ask of arguments.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tinyattn::compiled {

// As many as an object may have: no more than PTRDIFF_MAX bytes.
constexpr std::size_t most_floats = static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(float);

// Arrays of a matrix make sense: none of its sizes is 0, and it has no more than `most` elements.
constexpr bool is_matrix(std::size_t rows, std::size_t cols,
                         std::size_t most = most_floats) noexcept {
  return rows != 0 && cols != 0 && rows <= most / cols;
}

constexpr bool are_valid(const auto*... arrays) noexcept { return (... && (arrays != nullptr)); }

}  // namespace tinyattn::compiled
