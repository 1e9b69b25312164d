// SPDX-License-Identifier: MIT
//
// Prints in two passes, as PyTorch does: the first finds a common format of all numbers, the second prints them.
#include "table.hpp"

#include "../support/print.hpp"

namespace journey {
namespace {

using namespace support;

struct Format {
  bool with_decimals = false;
  std::size_t width = 1;
};

bool is_whole(float x) { return static_cast<float>(static_cast<std::uint32_t>(rounded_product(x, 1))) == (x < 0 ? -x : x); }

// Returns the format that all numbers share. Zeros and infinities have no influence on it.
Format common_format(const float* elements, std::size_t count) {
  Format format;
  const auto counts = [](float x) { return is_finite(x) && x != 0.0f; };
  for (std::size_t i = 0; i < count; ++i)
    if (counts(elements[i]) && !is_whole(elements[i])) format.with_decimals = true;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t width = decimal(elements[i], format.with_decimals).length();
    if (counts(elements[i]) && width > format.width) format.width = width;
  }
  return format;
}

void print_level(const float* elements, const std::size_t* extents, std::size_t rank, std::size_t indent, Format format) {
  if (rank == 0) return print_right_aligned(decimal(*elements, format.with_decimals), format.width);
  std::size_t stride = 1;
  for (std::size_t axis = 1; axis < rank; ++axis) stride *= extents[axis];
  print("[");
  for (std::size_t i = 0; i < extents[0]; ++i) {
    if (i != 0) {
      print(rank == 1 ? ", " : ",");
      for (std::size_t line = 1; line < rank; ++line) print("\n");
      if (rank > 1) print_spaces(indent + 1);
    }
    print_level(elements + i * stride, extents + 1, rank - 1, indent + 1, format);
  }
  print("]");
}

}  // namespace

void print_tensor(const float* elements, const std::size_t* extents, std::size_t rank) {
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) count *= extents[axis];
  print("tensor(");
  constexpr std::size_t indent = sizeof("tensor(") - 1;
  print_level(elements, extents, rank, indent, common_format(elements, count));
  print(")\n");
}

}  // namespace journey
