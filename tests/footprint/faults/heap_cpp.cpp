// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: needs _Znwj: the heap
float* attend() { return new float(1.0f); }
