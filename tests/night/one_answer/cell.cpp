// SPDX-License-Identifier: MIT
//
// A cell of the CRC table: computes the workloads, by the port of this build or, with
// -DIN_THE_COMPILER, while it is compiled. Prints for each workload its outputs, which diff.py reads,
// and whether their CRC is the committed one; at the end the row of the table.
//
//   dot
//   out [1]: 3f0ae148
//   ok 7 - dot
#include "catalogue/case.hpp"
#include "catalogue/crc.hpp"
#include "catalogue/workloads_of_training.hpp"
#include "outputs.hpp"
#include "support/print.hpp"

#include <cstddef>
#include <cstdint>

#ifndef CELL
#define CELL "workloads"
#define IS_SMALL false
#endif
#ifndef PART
#define PART 0  // all workloads; 1 and 2 are parts for which flash has room
#endif
#define HAS_PRIMITIVES (!IS_SMALL && PART != 1)  // functions of elements, and reductions, take much flash

namespace tinyattn::test { namespace {

#ifdef IN_THE_COMPILER
constexpr char by[] = "the compiler";

template <class Case>
consteval Recorded record() {
  Recorded outputs;
  Named named(outputs);
  compute_in_the_compiler<Case>(named);
  if (!named.guards_hold()) __builtin_trap();
  return outputs;
}

// Returns whether the case writes only its outputs.
template <class Case>
bool compute_case(auto& receive) {
  static constexpr Recorded outputs = record<Case>();
  outputs.replay(receive);
  return true;
}
#else
#define NAME_OF(port) TINYATTN_TEXT(port)
constexpr char by[] = NAME_OF(TINYATTN_PORT);

template <class Case>
bool compute_case(auto& receive) {
  Named named(receive);
  compute<Case>(named);
  return named.guards_hold();
}
#endif

class Row {
 public:
  template <class... Cases>
  void operator()(const Workload<Cases...>& workload) {
    print(workload.name, "\n");
    Crc crc;
    auto receive = [&](const Output& output, const float* elements) {
      print_output(output, elements);
      for (std::size_t i = 0; i < output.size; ++i) crc.add(elements[i]), of_all_.add(elements[i]);
    };
    if constexpr ((fits<Cases> && ...)) {
      bool guards_hold = true;
      ((guards_hold = compute_case<Cases>(receive) && guards_hold), ...);
      print_verdict(workload.name, crc.value(), crc.value() == workload.crc, guards_hold);
    } else {
      static_assert(IS_SMALL || sizeof...(Cases) == 0, "this machine should have memory for every workload");
      print_point("ok ", workload.name, " # SKIP too large for its RAM\n");
    }
  }

  std::uint32_t crc() const { return of_all_.value(); }

  // Prints the row of the table and the CRC of the workloads that compilers compute. Returns the exit status.
  int end(std::uint32_t crc_of_finite) const {
    print("1..", points_, "\n# " CELL ", ", by, ": ", Hex{crc_of_finite}, ", ", equal_, " of ", compared_, " workloads\n");
    return equal_ == compared_ ? 0 : 1;
  }

 private:
  static void print_output(const Output& output, const float* elements) {
    print(output.name);
    for (std::size_t i = 0; i < output.rank; ++i) print(i == 0 ? " [" : ", ", output.extents[i]);
    print("]:");
    for (std::size_t i = 0; i < output.size; ++i) print(" ", Hex{bits_of(elements[i])});
    print("\n");
  }

  // Every NaN is printed as 7fc00000: sign and payload are not promised.
  static std::uint32_t bits_of(float x) { return x != x ? 0x7fc00000 : __builtin_bit_cast(std::uint32_t, x); }

  void print_point(const char* verdict, const char* name, const char* end) { print(verdict, ++points_, " - " CELL ": ", name, end); }

  void print_verdict(const char* name, std::uint32_t crc, bool is_equal, bool guards_hold) {
    compared_ += 1;
    equal_ += is_equal && guards_hold;
    print_point(is_equal && guards_hold ? "ok " : "not ok ", name, "\n");
    if (!is_equal) print("# ", Hex{crc}, " is not the committed CRC: tests/diff names the first element that differs\n");
    if (!guards_hold) print("# memory next to an output or a workspace is written\n");
  }

  Crc of_all_;
  unsigned points_ = 0, compared_ = 0, equal_ = 0;
};

}}  // namespace tinyattn::test

int main() {
  using namespace tinyattn::test;
  Row row;
  if constexpr (PART != 2) {
    for_each_finite_workload(row);
    for_each_workload_with_a_window(row);
  }
  if constexpr (PART != 1) {
    for_each_workload_with_a_source(row);
    for_each_workload_over_tokens(row);
  }
  if constexpr (HAS_PRIMITIVES) for_each_workload_of_primitives(row);
  if constexpr (PART != 2) {
    for_each_workload_of_gradients(row);
    for_each_workload_of_attention_gradients(row);
    for_each_workload_of_training(row);
  }
  const std::uint32_t crc_of_finite = row.crc();
#ifndef IN_THE_COMPILER
  if constexpr (PART != 2) for_each_other_workload(row);
  if constexpr (HAS_PRIMITIVES) row(Workload<ElementwiseNotFinite>{"NaN and infinity, elementwise", 0xf9ad6dec});
#endif
  return row.end(crc_of_finite);
}
