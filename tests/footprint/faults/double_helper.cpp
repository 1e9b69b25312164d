// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: needs __aeabi_dmul: arithmetic in double
float attend(float x) { return static_cast<float>(static_cast<double>(x) * 0.1); }
