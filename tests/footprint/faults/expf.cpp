// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: needs expf: libm
extern "C" float expf(float);

float attend(float score) { return expf(score); }
