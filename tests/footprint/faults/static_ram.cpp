// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: keeps 64 bytes of static RAM: .bss._ZL6scores
static volatile float scores[16];

float attend(unsigned i) { return scores[i]; }
