// SPDX-License-Identifier: MIT
#pragma once
#include <utility>

#include "scoreboard.hpp"

namespace tinyattn::cycles {

// Cortex-M33.
//   [J]   github.com/jnk0le/random, "pipeline cycle test/doc": measured on a chip of revision r1p0
//   [S]   github.com/slothy-optimizer/slothy, targets/arm_v81m/cortex_m55r1.py
//   [-]   assumed: generous for the least bound, cautious for the most
class M33 : public Scoreboard {
 public:
  explicit M33(Bound bound) : Scoreboard(bound) {}

  void execute(const Executed& executed) override {
    const Instruction& i = executed.instruction;
    if (rides_along(executed)) {
      now_ = operands(i, now_);
      before_is_narrow_ = false;
      return;
    }
    const std::uint64_t from = is_float(i.kind) ? std::max(now_, f_free_) : now_;
    const std::uint64_t start = executed.skipped ? from : operands(i, from);
    const Cost its = executed.skipped ? Cost{} : cost(executed);
    if (i.kind == Kind::f_multiply_add)
      multiply_add(i, start);
    else
      float_result(i, start + its.result, start + its.result);
    core_result(i, start + its.result);
    now_ = start + its.issue;
    before_is_narrow_ = !i.wide;
    before_sets_flags_ = i.sets_flags;
  }

 protected:
  virtual void multiply_add(const Instruction& i, std::uint64_t start) {
    float_result(i, start + 4, start + 3);  // [J]
    f_free_ = start + 3;                    // [J] no other floating-point instruction in the next two cycles
  }

  virtual Cost cost(const Executed& executed) {
    const Instruction& i = executed.instruction;
    const unsigned count = std::max(i.count, 1u);
    using enum Kind;
    // clang-format off
    switch (i.kind) {
      case load: return {executed.unaligned != 0 ? 2u : 1u, 2};                 // [J] load to use 2
      case load_two: case store_two: return {2, 3};                             // [J]
      case load_many: case store_many: return {count, count + 1};               // [J] N
      case load_many_pc: return {count + choose(2, 3)};                         // [-]
      case load_pc: return {choose(4, 5)};                                      // [-]
      case table_branch: return {choose(4, 6)};                                 // [-]
      case branch_if: case branch: return {executed.taken ? choose(2, 3) : 1};  // [J] 2; [-] 3
      case call: return {choose(2, 3)};                                         // [J] 2; [-] 3
      case branch_register: return {choose(2, 4)};                              // [-]
      case multiply: return {i.sets_flags ? 2u : 1u, 2};                        // [J] MULS 2
      case multiply_add: case long_multiply: case long_multiply_add:
      case dsp_multiply: case dsp: return {1, 2};                               // [J]
      case divide: return {choose(2, 11), choose(2, 11)};                       // [-] by the operands
      case f_load: return {count, count + 1};                                   // [J]
      case f_load_many: case f_store_many: return {count, count + 1};           // [J] N
      case f_store: return {count};                                             // [J]
      case f_divide: case f_root: return {1, 14};                               // [J]
      case f_add: case f_multiply: case f_convert: case f_sign: return {1, 2};  // [J]
      case f_two_to_core: return {2, 2};                                        // [J]
      case f_to_core: case f_two_from_core: return {1, 2};                      // [J]
      default: return {1, i.shifted ? 2u : 1u};                                 // [J] a shifted operand 2
    }
    // clang-format on
  }

  bool before_is_narrow_ = false, before_sets_flags_ = false;
  std::uint64_t f_free_ = 0;  // when the FPU takes the next instruction

 private:
  // [J] A narrow branch, IT and NOP issue beside a narrow instruction; a branch that is taken not beside one that sets flags.
  bool rides_along(const Executed& executed) const {
    const Instruction& i = executed.instruction;
    if (!is_least_ || !before_is_narrow_) return false;
    if (i.kind == Kind::it || i.kind == Kind::nop) return true;
    if (i.kind == Kind::branch_if) return !i.wide && (!executed.taken || !before_sets_flags_);
    return i.kind == Kind::branch && !i.wide && !before_sets_flags_;
  }
};

// Cortex-M55: as an M33, with other rules for some instructions and with Helium.
class M55 : public M33 {
 public:
  explicit M55(Bound bound) : M33(bound) {}

  void execute(const Executed& executed) override {
    if (is_vector(executed.instruction.kind))
      execute_vector(executed.instruction);
    else
      M33::execute(executed);
  }

 private:
  void multiply_add(const Instruction& i, std::uint64_t start) override {
    float_result(i, start + 4, start + choose(2, 4));  // [S] [-]
  }

  Cost cost(const Executed& executed) override {
    const Instruction& i = executed.instruction;
    using enum Kind;
    // clang-format off
    switch (i.kind) {
      case load: return {executed.unaligned != 0 ? 2u : 1u, choose(1, 2)};  // [S] 1, of a byte 2
      case loop: return {of_loop(executed)};
      default: break;
    }
    // clang-format on
    Cost its = M33::cost(executed);
    if (i.kind == Kind::alu || i.kind == Kind::bit_field) its.result = i.shifted ? choose(1, 2) : 1;  // [S] 1 or 2, by the shift
    return its;
  }

  // [S] The end of a loop costs nothing once it has been met.
  unsigned of_loop(const Executed& executed) {
    const bool met = std::exchange(met_end_, executed.instruction.ends_loop);
    return executed.instruction.ends_loop && executed.taken ? choose(0, met ? 1 : 3) : choose(1, 3);
  }

  // [S] A vector instruction takes one of three units for two cycles, and one starts each cycle.
  void execute_vector(const Instruction& i) {
    const bool multiplies = i.kind == Kind::v_multiply;
    std::uint64_t& unit = units_[is_access(i.kind) ? 0 : multiplies ? 1 : 2];
    const std::uint64_t free = is_least_ ? unit : *std::ranges::max_element(units_);  // [-] most: one unit for all
    const std::uint64_t start = std::max(operands(i, now_), free);
    unit = start + 2;
    const unsigned later = choose(0, 1);                     // [-]
    vector_result(i, start + (multiplies ? 2 : 1) + later);  // [S]
    core_result(i, start + 1 + later);                       // [S]
    now_ = start + 1;
    before_is_narrow_ = false;
  }

  bool met_end_ = false;
  std::array<std::uint64_t, 3> units_ = {};
};

}  // namespace tinyattn::cycles
