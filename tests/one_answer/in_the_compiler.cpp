// SPDX-License-Identifier: MIT
//
// Prints what the compiler computed: the first row of the table.
#include "outputs.hpp"
#include "support/print.hpp"
#include "workloads.hpp"

#include <cstddef>

namespace tinyattn::one_answer { namespace {

struct Text {
  char characters[20 * 1024] = {};
  std::size_t size = 0;

  constexpr void operator()(const char* text) noexcept {
    for (; *text != '\0'; ++text) characters[size++] = *text;
  }
};

template <class Case>
constexpr void compute(Text& text) {
  Inputs inputs;
  Outputs outputs(text);
  Case one_case;
  one_case(inputs, outputs);
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
  for (const char* part : {workload.name, "\n", text.characters}) test::print(part);
}

}}  // namespace tinyattn::one_answer

int main() {
  using namespace tinyattn::one_answer;
  tinyattn::test::print("none\n");
  for_each_finite_workload([](const auto& workload) { compute_workload(workload); });
  return 0;
}
