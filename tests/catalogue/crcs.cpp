// SPDX-License-Identifier: MIT
//
// Computes every workload with the port of this build, and compares it with its plain twin and with the committed CRC-32. Prints the Test
// Anything Protocol, and after each verdict the line of crcs.hpp that was computed.
#include "crcs.hpp"
#include "support/print.hpp"
#include "twin.hpp"
#include "workloads.hpp"

namespace tinyattn::test { namespace {

void print_line(const char* name, std::uint32_t crc) {
  char digits[] = "00000000";
  for (int i = 0; i < 8; ++i) digits[i] = "0123456789abcdef"[crc >> (28 - 4 * i) & 15u];
  for (const char* text : {"#   {\"", name, "\", 0x", static_cast<const char*>(digits), "},\n"}) print(text);
}

bool is_same(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

// Returns the committed CRC of a workload; if there is none, 0, which equals no committed CRC.
std::uint32_t committed(const char* name) {
  for (const auto& [its_name, crc] : crcs)
    if (is_same(its_name, name)) return crc;
  return 0;
}

struct Tap {
  unsigned number = 0, failed = 0;

  template <class... Cases>
  void operator()(const Workload<Cases...>& workload) {
    Check check;
    Crc crc;
    if constexpr ((fits<Cases> && ...)) {
      (check_twin<Cases>(check, Library{}, crc), ...);
      check.equal(crc.value(), committed(workload.name));
    }
    const bool is_skipped = check.checks() == 0;
    failed += !is_skipped && !check.passed();
    print(is_skipped || check.passed() ? "ok " : "not ok ");
    print(++number);
    for (const char* text : {" - ", workload.name, is_skipped ? " # SKIP too large for its RAM\n" : "\n"}) print(text);
    if (!is_skipped) print_line(workload.name, crc.value());
    if (check.failures() != 0 && crc.value() != committed(workload.name)) print("# the CRC is not the one that is committed\n");
    if (check.failures() > (crc.value() != committed(workload.name))) print("# its plain twin has other bits, or a guard is lost\n");
  }
};

}}  // namespace tinyattn::test

int main() {
  using namespace tinyattn::test;
  Tap tap;
  for_each_finite_workload(tap);
  for_each_other_workload(tap);
  print("1..");
  print(tap.number);
  print("\n");
  return tap.failed == 0 ? 0 : 1;
}
