// SPDX-License-Identifier: MIT
//
// The machine's own fused multiply-add, whatever the flags of the test that asks for it.
#pragma once

namespace tinyattn::test {

// False where asking would end in an illegal instruction.
bool machine_has_fma();

float machine_fma(float a, float b, float c);

}  // namespace tinyattn::test
