// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: runs a constructor before main: .init_array
int tokens();

int context_length = tokens();
