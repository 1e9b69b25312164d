// SPDX-License-Identifier: MIT
#pragma once
#include "scoreboard.hpp"

namespace tinyattn::cycles {

// Cortex-M7, which starts up to two instructions in a cycle.
//   [J]   github.com/jnk0le/random, "pipeline cycle test/doc": measured on an STM32H743
//   [L]   llvm/lib/Target/ARM/ARMScheduleM7.td
//   [-]   assumed: generous for the least bound, cautious for the most
class M7 : public Scoreboard {
 public:
  explicit M7(Bound bound) : Scoreboard(bound) {}

  void execute(const Executed& executed) override {
    const Instruction& i = executed.instruction;
    const std::uint64_t ready = executed.skipped ? 0 : when_ready(i);
    const bool second = is_least_ && has_first_ && ready <= now_ && go_together(first_, i);
    const std::uint64_t start = second ? now_ - 1 : std::max(now_, ready);
    const Cost its = executed.skipped ? Cost{} : cost(executed);
    results(i, start, its.result);
    if (!second || its.issue > 1) now_ = start + its.issue;
    has_first_ = is_least_ && !second && its.issue == 1;
    first_ = i;
  }

 private:
  // [J] Two units of whole numbers: the second computes a cycle later, so its operands may be a cycle late.
  std::uint64_t when_ready(const Instruction& i) const {
    const std::uint64_t ready = operands(i, 0);
    const bool may_be_late = is_least_ && !is_access(i.kind) && !is_float(i.kind) && ready > 0;
    return may_be_late ? ready - 1 : ready;
  }

  void results(const Instruction& i, std::uint64_t start, unsigned after) {
    const std::uint64_t done = start + after;
    core_result(i, done);
    set(core_, i.advances, start + 1);
    switch (i.kind) {
      case Kind::f_multiply_add:
        return float_result(i, done, start + 3);  // [J] 5, to an addend 3
      case Kind::f_load:
      case Kind::f_load_many:
        return float_result(i, done, done + choose(0, 2));  // [J]
      default:
        return float_result(i, done, after == 3 ? start + 2 : done);  // [J]
    }
  }

  static bool is_multiplication(Kind kind) { return kind >= Kind::multiply && kind <= Kind::dsp_multiply; }
  static bool is_arithmetic(Kind kind) { return kind >= Kind::f_move && kind <= Kind::f_root; }
  static bool moves_or_accesses(Kind kind) {
    return kind == Kind::f_load || kind == Kind::f_store || kind == Kind::f_from_core || kind == Kind::f_to_core;
  }
  static bool goes_alone(const Instruction& i) {
    switch (i.kind) {
      case Kind::load_two:
      case Kind::store_two:
      case Kind::load_many:
      case Kind::store_many:
      case Kind::load_many_pc:
      case Kind::f_load_many:
      case Kind::f_store_many:
      case Kind::f_two_from_core:
      case Kind::f_two_to_core:  // [J]
      case Kind::divide:
      case Kind::barrier:
        return true;  // [-]
      default:
        return (i.kind == Kind::f_load || i.kind == Kind::f_store) && i.count == 2;  // [J]
    }
  }
  static bool one_of_each(Kind a, Kind b, bool (*left)(Kind), bool (*right)(Kind)) {
    return (left(a) && right(b)) || (left(b) && right(a));
  }

  static bool go_together(const Instruction& a, const Instruction& b) {
    constexpr auto multiply_add = [](Kind kind) { return kind == Kind::f_multiply_add; };
    constexpr auto store = [](Kind kind) { return kind == Kind::store || kind == Kind::f_store; };
    constexpr auto simd = [](Kind kind) { return kind == Kind::dsp || kind == Kind::bit_field; };
    const auto has = [&](bool (*left)(Kind), bool (*right)(Kind)) { return one_of_each(a.kind, b.kind, left, right); };
    if (goes_alone(a) || goes_alone(b)) return false;
    if (has(is_arithmetic, is_arithmetic)) return false;                   // [J]
    if (has(multiply_add, moves_or_accesses)) return false;                // [J] VFMA beside VLDR, VSTR, VMOV
    if (has(is_multiplication, is_multiplication)) return false;           // [J] [L]
    if (has(store, store) || has(is_multiplication, store)) return false;  // [J] [L]
    if (has(simd, simd)) return false;                                     // [J] [L]
    if (a.shifted && b.shifted) return false;                              // [J] [L]
    return (a.f_writes & (b.f_reads | b.f_addend)) == 0;
  }

  Cost cost(const Executed& executed) {
    const Instruction& i = executed.instruction;
    const unsigned many = std::max(is_least_ ? (i.count + 1) / 2 : i.count, 1u);  // [J] N / 2; [-] N
    using enum Kind;
    // clang-format off
    switch (i.kind) {
      case load: return {executed.unaligned != 0 ? 4u : 1u, choose(1, 3)};                     // [J] unaligned 3 more
      case load_two: case store_two: return {choose(1, 2), 2};                                 // [J] [-]
      case load_many: case store_many: case f_store_many: return {many, many + choose(0, 1)};  // [J] [-]
      case f_load_many: return {many, many + 1};                                               // [J]
      case load_many_pc: return {many + choose(1, 8)};                                         // [-]
      case multiply: case multiply_add: case long_multiply: case long_multiply_add:
      case dsp_multiply: return {1, 2};                                                        // [J]
      case divide: return {choose(2, 20), choose(2, 20)};                                      // [-] by the operands
      case branch_if: return {mispredicts(executed) ? choose(1, 9) : 1};                       // [J] 6 to 8 more; least: always predicted
      case branch_register: return {choose(1, 4)};                                             // [-]
      case table_branch: case load_pc: return {choose(2, 9)};                                  // [-]
      case f_load: return {i.count == 2 ? choose(1, 2) : 1, choose(1, 3)};                     // [J] [-]
      case f_divide: return {16, 16};                                                          // [J]
      case f_root: return {14, 14};                                                            // [J]
      case f_add: case f_multiply: case f_convert: case f_sign: case f_move:
      case f_from_core: case f_two_from_core: return {1, 3};                                   // [J]
      case f_multiply_add: return {1, 5};                                                      // [J]
      case f_to_core: case f_two_to_core: return {1, 2};                                       // [J]
      default: return {1, i.shifted ? choose(1, 2) : 1};                                       // [J] [-]
    }
    // clang-format on
  }

  // [-] Of the predictor no more is known than that there is one: counters of two bits.
  bool mispredicts(const Executed& executed) {
    std::uint8_t& counter = counters_[executed.instruction.address / 2 % counters_.size()];
    const bool wrong = (counter > 1) != executed.taken;
    if (executed.taken && counter < 3) ++counter;
    if (!executed.taken && counter > 0) --counter;
    return wrong;
  }

  static constexpr std::array<std::uint8_t, 1024> weakly_not_taken() {
    std::array<std::uint8_t, 1024> counters;
    counters.fill(1);
    return counters;
  }

  Instruction first_;  // of a pair
  bool has_first_ = false;
  std::array<std::uint8_t, 1024> counters_ = weakly_not_taken();
};

}  // namespace tinyattn::cycles
