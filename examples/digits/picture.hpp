// SPDX-License-Identifier: MIT
//
// Images as characters, side by side, with what the model reads under each.
#pragma once

#include <cstddef>
#include <span>

namespace digits {

struct Reading {
  std::size_t image;  // which of the held-out images
  std::size_t digit;  // what the model takes it for
};

void print_readings(std::span<const Reading> readings);

}  // namespace digits
