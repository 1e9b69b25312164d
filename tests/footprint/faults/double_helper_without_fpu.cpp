// SPDX-License-Identifier: MIT
// board: microbit
// found: needs __aeabi_f2d: arithmetic in double
double attend(float x) { return static_cast<double>(x); }
