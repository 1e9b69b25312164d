// SPDX-License-Identifier: MIT
#pragma once
#include "core.hpp"

namespace tinyattn::cycles {

// Cortex-M0 and M0+ with the fast multiplier: what an instruction costs does not depend on its neighbours.
//   [M0]   Cortex-M0 Technical Reference Manual, DDI 0432C, table 3-1
//   [M0+]  Cortex-M0+ Technical Reference Manual, DDI 0484C, table 3-1
class M0 : public Core {
 public:
  explicit M0(bool plus) : refill_(plus ? 1 : 2) {}
  void execute(const Executed& executed) override { now_ += cost(executed); }

 private:
  unsigned cost(const Executed& executed) const {
    const Instruction& i = executed.instruction;
    using enum Kind;
    // clang-format off
    switch (i.kind) {
      case load: case store: return 2;                            // [M0] [M0+]
      case load_many: case store_many: return 1 + i.count;        // [M0] [M0+] 1 + N
      case load_many_pc: return i.count + 2 + refill_;            // [M0] 4 + N, [M0+] 3 + N; N has the program counter
      case branch_if: return executed.taken ? 1 + refill_ : 1;    // [M0] 1 or 3, [M0+] 1 or 2
      case branch: case branch_register: return 1 + refill_;      // [M0] 3, [M0+] 2
      case call: case special: case barrier: return 2 + refill_;  // [M0] 4, [M0+] 3
      default: return 1;                                          // [M0] [M0+] a multiplication, too
    }
    // clang-format on
  }
  unsigned refill_;
};

}  // namespace tinyattn::cycles
