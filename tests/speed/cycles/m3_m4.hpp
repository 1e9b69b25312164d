// SPDX-License-Identifier: MIT
#pragma once
#include "core.hpp"

namespace tinyattn::cycles {

// Cortex-M3, M4 and M4F.
//   [M3]   Cortex-M3 Technical Reference Manual, DDI 0337I, 3.3: the table, and "Load/store timings"
//   [M4]   Cortex-M4 Technical Reference Manual, 100166, 3.3, and its table of FPU instructions; TI prints the text in SWCU185
//   [J]    github.com/jnk0le/random, "pipeline cycle test/doc": measured
//   [I0]   compendium.i-0.nl, "Alignment rules": measured
//   [A]    eprint.iacr.org/2025/523, as [J] quotes it
//   [GCC]  gcc/config/arm/cortex-m4*.md
//   [fit]  what fits best the programs of README.md
class M3M4 : public Core {
 public:
  explicit M3M4(bool is_m4) : is_m4_(is_m4) {}

  void execute(const Executed& executed) override {
    const Instruction& i = executed.instruction;
    const std::uint64_t began = now_;
    now_ += misalignment(i) + open_access(executed) + new_access(executed);
    if (is_float(i.kind)) now_ += float_operands(i);
    Before left = {.narrow = !i.wide, .is_it = i.kind == Kind::it, .taken = executed.taken};
    if (!executed.skipped) leave(left, i);
    if (i.kind == Kind::f_divide || i.kind == Kind::f_root) f_free_ = now_ + 14;  // [M4] 14, while other instructions go on
    now_ += executed.skipped ? 1 : cost(executed);
    left.is_long = now_ - began > 1 || left.access != Access::none;
    before_ = left;
  }

 private:
  // Of the instruction before, what the next one can meet
  enum class Access { none, load, store };
  struct Before {
    Access access = Access::none;  // its second cycle is still to come, unless the next instruction hides it
    bool stored = false;
    Registers loaded = 0, load_advanced = 0, store_advanced = 0, computed = 0, f_computed = 0;
    bool narrow = false, is_it = false, taken = false, is_long = false;
  };

  // Wide instructions at odd halfwords
  unsigned misalignment(const Instruction& i) {
    const bool odd = i.wide && (i.address & 2) != 0;
    if (before_.taken) {
      odd_run_ = 0;
      return odd ? 1 : 0;  // [M3] "alignment and width of the target"; [I0]
    }
    odd_run_ = odd ? odd_run_ + 1 : 0;
    if (odd_run_ == 1) run_follows_long_ = before_.is_long;
    return odd_run_ == 3 && run_follows_long_ ? 1 : 0;  // [A] three of them after an instruction of several cycles; [fit]
  }

  // The second cycle of the access before
  unsigned open_access(const Executed& executed) const {
    const Instruction& i = executed.instruction;
    if (before_.access == Access::store) return i.kind == Kind::nop ? 0 : 1;                  // [J]
    if (before_.access == Access::none || executed.skipped || i.kind == Kind::nop) return 0;  // [J] a NOP; [M3] one that IT skips
    const bool single_load = i.kind == Kind::load || i.kind == Kind::f_load;  // [M3] "LDR [any] are pipelined when possible"; [GCC] VLDR
    const bool waits = (i.points & (before_.loaded | before_.load_advanced)) != 0;  // [M3] for an address; [J] for an updated base
    const bool updates = i.advances != 0 && !is_m4_;   // [M3] "not normally pipelined"; [J] is pipelined on an M4
    return single_load && !waits && !updates ? 0 : 1;  // a store: [M3] "normally three"; [J] hides it; [fit] does not
  }

  unsigned new_access(const Executed& executed) const {
    const Instruction& i = executed.instruction;
    unsigned cost = 0;
    if (before_.stored && is_load(i.kind) && !executed.skipped) ++cost;                                // [J]
    if (i.kind == Kind::store && i.advances != 0 && (before_.store_advanced & i.points) != 0) ++cost;  // [J]
    if (is_access(i.kind) && (i.points & before_.computed) != 0) ++cost;  // [M3] an address that was just computed
    return cost;
  }

  unsigned float_operands(const Instruction& i) const {
    const unsigned busy = f_free_ > now_ ? static_cast<unsigned>(f_free_ - now_) : 0;  // [M4] after a division
    return busy + ((before_.f_computed & i.f_reads) != 0 ? 1 : 0);                     // [M4] "one cycle longer"; not for an addend
  }

  static void leave(Before& left, const Instruction& i) {
    const bool load = i.kind == Kind::load || i.kind == Kind::f_load, store = i.kind == Kind::store || i.kind == Kind::f_store;
    const bool late_store = store && i.by_register;  // [J]
    left.access = load ? Access::load : late_store ? Access::store : Access::none;
    left.stored = store && !late_store;
    left.loaded = load ? i.writes : 0;
    left.load_advanced = load ? i.advances : 0;
    left.store_advanced = store ? i.advances : 0;
    left.computed = is_access(i.kind) ? 0 : i.writes;
    const bool computes = (i.kind >= Kind::f_add && i.kind <= Kind::f_root);
    left.f_computed = computes ? i.f_writes : 0;
  }

  unsigned cost(const Executed& executed) const {
    const Instruction& i = executed.instruction;
    using enum Kind;
    // clang-format off
    switch (i.kind) {
      case load: return 1 + executed.unaligned;                  // [M3] 2, less one that may be hidden; 1 for each more access
      case f_load: case f_store: return i.count;                 // [M4] as a load or store; one more for a double
      case load_two: case store_two: case load_many: case store_many:
      case f_load_many: case f_store_many: return 1 + i.count;   // [M3] [M4] 1 + N, not pipelined
      case load_many_pc: return 1 + i.count + 3;                 // [M3] 1 + N + P, P = 1 to 3; [fit]
      case load_pc: return 5;                                    // [M3] "at least five"
      case table_branch: return 6;                               // [M3] "at least six"
      case branch_if: return executed.taken ? 2 : 1;             // [M3] 1 or 1 + P; [J] 2
      case branch: case call: return 2;                          // [M3] 1 + P; [J] 2
      case branch_register: return 3;                            // [M3] 1 + P; [fit]
      case multiply_add: return is_m4_ ? 1 : 2;                  // [M3] 2, [M4] 1
      case long_multiply: return is_m4_ ? 1 : 4;                 // [M3] 3 to 5 by the operands, [M4] 1
      case long_multiply_add: return is_m4_ ? 1 : 6;             // [M3] 4 to 7 by the operands, [M4] 1
      case divide: return 7;                                     // [M3] [M4] 2 to 12 by the operands
      case it: return before_.narrow && !before_.is_it ? 0 : 1;  // [M3] folds onto a narrow instruction
      case special: case cps: return 2;                          // [M3]
      case barrier: return 3;                                    // [M3]
      case f_multiply_add: return 3;                             // [M4] [GCC]
      case f_two_from_core: case f_two_to_core: return 2;        // [M4]
      default: return 1;                                         // [M3] [M4]; STR, too: "STR Rx,[Ry,#imm] is always one cycle"
    }
    // clang-format on
  }

  bool is_m4_;
  Before before_;
  unsigned odd_run_ = 0;
  bool run_follows_long_ = false;
  std::uint64_t f_free_ = 0;  // when the FPU has finished a division
};

}  // namespace tinyattn::cycles
