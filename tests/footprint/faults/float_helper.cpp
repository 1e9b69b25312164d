// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: needs __aeabi_l2f: arithmetic in float, for which this core has instructions
float attend(long long count) { return static_cast<float>(count); }
