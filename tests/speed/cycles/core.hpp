// SPDX-License-Identifier: MIT
#pragma once
#include "decode.hpp"

namespace tinyattn::cycles {

// An instruction that has run.
struct Executed {
  const Instruction& instruction;
  bool taken;          // not the following instruction was next
  bool skipped;        // in an IT block whose condition did not hold: of accesses and branches alone is this seen
  unsigned unaligned;  // 1 or 2: a load or store of one word or halfword was split into one more access, or two
};

// A model of a core: counts the cycles of one instruction after another, with memory that never waits.
class Core {
 public:
  virtual ~Core() = default;
  virtual void execute(const Executed& executed) = 0;
  std::uint64_t cycles() const { return now_; }

 protected:
  std::uint64_t now_ = 0;  // when the next instruction can start
};

}  // namespace tinyattn::cycles
