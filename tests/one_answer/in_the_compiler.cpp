// SPDX-License-Identifier: MIT
//
// Prints what the compiler computed: the first row of the table.
#include "catalogue/workloads.hpp"
#include "outputs.hpp"
#include "support/print.hpp"

#include <cstddef>

namespace tinyattn::test { namespace {

struct Text {
  char characters[20 * 1024] = {};
  std::size_t size = 0;

  constexpr void operator()(const char* text) noexcept {
    for (; *text != '\0'; ++text) characters[size++] = *text;
  }
};

template <class Case>
constexpr void compute(Text& text) {
  Draw draw;
  Printed outputs(text);
  Case one_case;
  one_case(draw, Library{}, outputs);
}

template <class... Cases>
consteval Text text_of() {
  Text text;
  (compute<Cases>(text), ...);
  return text;
}

template <class... Cases>
void compute_workload(const Workload<Cases...>& workload) {
  static constexpr Text text = text_of<Cases...>();
  for (const char* part : {workload.name, "\n", text.characters}) print(part);
}

}}  // namespace tinyattn::test

int main() {
  using namespace tinyattn::test;
  print("none\n");
  for_each_finite_workload([](const auto& workload) { compute_workload(workload); });
  return 0;
}
