// SPDX-License-Identifier: MIT
//
// Computes the workloads with the port of this build and prints the bits of what comes out. MEMORY_BYTES are there for the tensors of
// a case; one that needs more is left out.
#include "outputs.hpp"
#include "print.hpp"
#include "workloads.hpp"

#include <cstddef>
#include <new>

namespace tinyattn::one_answer {
namespace {

alignas(64) std::byte memory[MEMORY_BYTES];

class Printer {
 public:
  template <std::size_t... Extents>
  void take(const char* name, const Tensor<float, Extents...>& tensor) noexcept {
    print_bits(heading(name, tensor), tensor.data());
  }
  const Crc32& crc() const noexcept { return crc_; }

 private:
  void print_bits(const Heading& heading, const float* elements) noexcept;

  Crc32 crc_;
};

[[gnu::noinline]] void Printer::print_bits(const Heading& heading, const float* elements) noexcept {
  print_heading(heading);
  for (std::size_t i = 0; i < element_count(heading); ++i) {
    print_word(bits_of(elements[i]));
    crc_.add(bits_of(elements[i]));
  }
  print("\n");
}

template <class Case>
[[gnu::noinline]] void compute(Printer& outputs) {
  Inputs inputs;
  (*new (memory) Case)(inputs, outputs);
}

template <class... Cases>
void compute(const Workload<Cases...>& workload) {
  print_name(workload.name);
  if constexpr (((sizeof(Cases) > sizeof memory) || ...)) {
    print("too large\n");
  } else {
    Printer outputs;
    (compute<Cases>(outputs), ...);
    print_crc(outputs.crc());
  }
}

}  // namespace
}  // namespace tinyattn::one_answer

#define TEXT_OF(name) TINYATTN_TEXT(name)

int main() {
  using namespace tinyattn::one_answer;
  print("port " TEXT_OF(TINYATTN_PORT) "\n");
  const auto compute_it = [](const auto& workload) { compute(workload); };
  for_each_finite_workload(compute_it);
  for_each_other_workload(compute_it);
  return 0;
}
