// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>

#include "core.hpp"

namespace tinyattn::cycles {

enum class Bound { least, most };

// When each register is ready, for cores of which more than a table is known, and less than a pipeline. Each of their models has two
// bounds: least, where everything overlaps that is known to overlap; most, where nothing does.
class Scoreboard : public Core {
 protected:
  explicit Scoreboard(Bound bound) : is_least_(bound == Bound::least) {}

  // When all that the instruction reads is ready, but not before `from`.
  std::uint64_t operands(const Instruction& i, std::uint64_t from) const {
    return std::max(
        {from, latest(core_, i.reads | i.points), latest(float_, i.f_reads), latest(addend_, i.f_addend), latest(vector_, i.v_reads)});
  }
  void core_result(const Instruction& i, std::uint64_t when) { set(core_, i.writes | (is_float(i.kind) ? 0 : i.advances), when); }
  // As an operand, and as the addend of a multiply-add, which is needed later.
  void float_result(const Instruction& i, std::uint64_t as_operand, std::uint64_t as_addend) {
    set(float_, i.f_writes, as_operand);
    set(addend_, i.f_writes, as_addend);
  }
  void vector_result(const Instruction& i, std::uint64_t when) { set(vector_, i.v_writes, when); }

  using Times = std::array<std::uint64_t, 32>;
  static std::uint64_t latest(const Times& times, Registers registers) {
    std::uint64_t last = 0;
    for (; registers != 0; registers &= registers - 1) last = std::max(last, times[first(registers)]);
    return last;
  }
  static void set(Times& times, Registers registers, std::uint64_t when) {
    for (; registers != 0; registers &= registers - 1) times[first(registers)] = when;
  }

  unsigned choose(unsigned least, unsigned most) const { return is_least_ ? least : most; }

  const bool is_least_;
  Times core_ = {}, float_ = {}, addend_ = {}, vector_ = {};

 private:
  static std::size_t first(Registers registers) { return static_cast<std::size_t>(std::countr_zero(registers)); }
};

// Cycles in which an instruction issues, and after which its result is ready.
struct Cost {
  unsigned issue = 1, result = 1;
};

}  // namespace tinyattn::cycles
