// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace tinyattn::bench {

// Multiply-adds in registers, and nothing else: the most floating-point operations that a core can do. Returns how many it did.
double multiply_add_in_registers(std::size_t times);

}  // namespace tinyattn::bench
