// SPDX-License-Identifier: MIT
// board: mps2-an385
// found: needs fmaf: libm
float attend(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
