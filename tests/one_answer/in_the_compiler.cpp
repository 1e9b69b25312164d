// SPDX-License-Identifier: MIT
//
// Prints what the compiler computed: the first row of the table.
#include "outputs.hpp"
#include "print.hpp"
#include "workloads.hpp"

#include <cstddef>

namespace tinyattn::one_answer {
namespace {

template <class Case, class Outputs>
constexpr void compute(Outputs& outputs) {
  Inputs inputs;
  Case one_case;
  one_case(inputs, outputs);
}

template <class... Cases>
consteval auto record() {
  Record<2048, 16> outputs;
  (compute<Cases>(outputs), ...);
  return outputs;
}

template <std::size_t Words, std::size_t Headings>
void print_outputs(const Record<Words, Headings>& outputs) {
  const std::uint32_t* word = outputs.words;
  for (std::size_t i = 0; i < outputs.heading_count; ++i) {
    print_heading(outputs.headings[i]);
    for (std::size_t count = element_count(outputs.headings[i]); count > 0; --count) print_word(*word++);
    print("\n");
  }
  print_crc(outputs.crc);
}

template <class... Cases>
void compute_and_print(const Workload<Cases...>& workload) {
  static constexpr auto outputs = record<Cases...>();
  print_name(workload.name);
  print_outputs(outputs);
}

}  // namespace
}  // namespace tinyattn::one_answer

int main() {
  using namespace tinyattn::one_answer;
  for_each_finite_workload([](const auto& workload) { compute_and_print(workload); });
  return 0;
}
