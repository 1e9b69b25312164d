// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: needs sqrtf: libm
float attend(float x) { return __builtin_sqrtf(x); }
