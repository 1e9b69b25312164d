// SPDX-License-Identifier: MIT
//
// Computes every workload with the port of this build, and compares it with its plain twin and with the committed CRC-32. Prints the Test
// Anything Protocol, and after each verdict the CRC that was computed.
#include "support/print.hpp"
#include "twin.hpp"
#include "workloads_of_training.hpp"

namespace tinyattn::test { namespace {

struct Tap {
  unsigned number = 0, failed = 0;

  template <class... Cases>
  void operator()(const Workload<Cases...>& workload) {
    Check check;
    Crc crc;
    if constexpr ((fits<Cases> && ...)) {
      (check_twin<Cases>(check, Library{}, crc), ...);
      check.equal(crc.value(), workload.crc);
    }
    const bool is_skipped = check.checks() == 0;
    failed += !is_skipped && !check.passed();
    print(is_skipped || check.passed() ? "ok " : "not ok ");
    print(++number);
    for (const char* text : {" - ", workload.name, is_skipped ? " # SKIP too large for its RAM\n" : "\n"}) print(text);
    if (is_skipped) return;
    print("# 0x");
    print_hex(crc.value());
    print(crc.value() == workload.crc ? "\n" : " is not the CRC that is committed\n");
    if (check.failures() > (crc.value() != workload.crc)) print("# its plain twin has other bits, or a guard is lost\n");
  }
};

}}  // namespace tinyattn::test

int main() {
  using namespace tinyattn::test;
  Tap tap;
  for_each_finite_workload(tap);
#ifndef FINITE_ONLY
  for_each_other_workload(tap);
  for_each_workload_with_a_window(tap);
  for_each_workload_over_tokens(tap);
  for_each_workload_of_gradients(tap);
  for_each_workload_of_attention_gradients(tap);
  for_each_workload_of_training(tap);
#endif
  print("1..");
  print(tap.number);
  print("\n");
  return tap.failed == 0 ? 0 : 1;
}
