// SPDX-License-Identifier: MIT
//
// Computes the workloads with the port of this build. The tensors of a case get MEMORY_BYTES; a workload that needs more is skipped.
#include "catalogue/workloads.hpp"
#include "outputs.hpp"
#include "support/print.hpp"

#include <cstddef>
#include <new>

namespace tinyattn::test { namespace {

alignas(64) std::byte memory[MEMORY_BYTES];

template <class Case>
[[gnu::noinline]] void compute() {
  constexpr auto print_text = [](const char* text) { print(text); };
  Draw draw;
  Printed outputs(print_text);
  (*new (memory) Case)(draw, Library{}, outputs);
}

template <class... Cases>
void compute_workload(const Workload<Cases...>& workload) {
  print(workload.name);
  print("\n");
  if constexpr (((sizeof(Cases) > sizeof memory) || ...))
    print("too large: \n");
  else
    (compute<Cases>(), ...);
}

}}  // namespace tinyattn::test

#define TEXT_OF(name) TINYATTN_TEXT(name)

int main() {
  using namespace tinyattn::test;
  print(TEXT_OF(TINYATTN_PORT) "\n");
  const auto compute = [](const auto& workload) { compute_workload(workload); };
  for_each_finite_workload(compute);
  for_each_other_workload(compute);
  return 0;
}
