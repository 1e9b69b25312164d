// SPDX-License-Identifier: MIT
//
// A module that ports/pytorch exported (modules/HEADER, namespace NAME): its outputs for its example must be PyTorch's. Its weights are in
// the binary next to the header.
#include HEADER

#include "support/check.hpp"

__asm__(
    ".section .rodata\n"
    ".balign 4\n"
    ".global weights_in_flash\n"
    "weights_in_flash:\n"
    ".incbin \"" WEIGHTS
    "\"\n"
    ".previous\n");
extern "C" const unsigned char weights_in_flash[];

using namespace tinyattn::test;

namespace {

NAME::Model::Workspace workspace;

constexpr float relative_error = 1e-5f;  // of the largest output

void as_pytorch(Check& check) {
  float largest = 0.0f;
  for (const float element : NAME::example_output.elements) {
    const float magnitude = element < 0.0f ? -element : element;
    largest = largest < magnitude ? magnitude : largest;
  }
  const NAME::Model& model = NAME::weights(weights_in_flash);
  check.that(NAME::example_error(model, workspace) < relative_error * largest);
  check.that(largest > 0.0f);
}

constexpr Test tests[] = {at_run_time("what PyTorch computed", as_pytorch)};

}  // namespace

int main() { return run(tests); }
