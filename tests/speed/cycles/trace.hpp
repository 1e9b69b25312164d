// SPDX-License-Identifier: MIT
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core.hpp"

namespace tinyattn::cycles {

// Which way a program took: hashes of the addresses of the instructions that ran, and of the memory that they accessed. And what the
// models do not see of its data: how many instructions divide or make long products, whose time depends on the operands on some cores,
// and how many floating-point operations IT may have skipped.
struct Trace {
  std::uint64_t path = 0, addresses = 0;
  std::size_t divisions = 0, long_products = 0, conditional = 0;

  void run(const Executed& executed, bool is_conditional) {
    const Kind kind = executed.instruction.kind;
    path = mixed(path, std::uint64_t{executed.instruction.address} << 1 | executed.skipped);
    divisions += kind == Kind::divide;
    long_products += kind == Kind::long_multiply || kind == Kind::long_multiply_add;
    conditional += is_conditional && kind >= Kind::f_compare && kind <= Kind::f_root;
  }
  void access(std::uint64_t where) { addresses = mixed(addresses, where); }

 private:
  static std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) { return std::rotl((hash ^ value) * 0x9e3779b97f4a7c15u, 29) + 1; }
};

}  // namespace tinyattn::cycles
