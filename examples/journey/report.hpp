// SPDX-License-Identifier: MIT
//
// Prints the texts and tables of the stages. Every table is followed by the checksum of its bits, and the journey ends with one over all of
// them, for comparing machines. A line that starts with "board:" may differ between machines; no other line may.
#pragma once

#include <cstddef>

#include "../support/checksum.hpp"
#include "../support/print.hpp"
#include "table.hpp"

namespace journey {

using namespace support;

class Report {
 public:
  void stage(const char* title, const char* text) { print("\n", ++stages_, ". ", title, "\n", text, "\n"); }

  void note(const char* text) { print("\n", text, "\n"); }

  // Prints name = formula, the text `to_see`, and the table.
  template <std::size_t... Extents>
  void table(const char* name, const char* formula, const char* to_see, const tinyattn::Tensor<float, Extents...>& tensor) {
    print("\n", name, " = ", formula, "\n  ", to_see, "\n");
    print_tensor(tensor);
    checksum(tensor.data(), tensor.size());
  }

  void number(const char* name, const char* formula, const char* to_see, float x) {
    print("\n", name, " = ", formula, "\n  ", to_see, "\n");
    print_tensor(x);
    checksum(&x, 1);
  }

  // Prints a claim and whether it holds.
  void same_bits(const char* claim, bool holds) {
    print("\n", claim, holds ? ": the same bits\n" : ": DIFFERENT BITS\n");
    claims_hold_ = claims_hold_ && holds;
  }

  bool claims_hold() const { return claims_hold_; }
  std::uint32_t checksum_of_all() const { return all_.value(); }

 private:
  void checksum(const float* elements, std::size_t count) {
    Checksum own;
    own.add(elements, count);
    all_.add(elements, count);
    print("crc32 ", hexadecimal(own.value()), "\n");
  }

  std::size_t stages_ = 0;
  Checksum all_;
  bool claims_hold_ = true;
};

}  // namespace journey
