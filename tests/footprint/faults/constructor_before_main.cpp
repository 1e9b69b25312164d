// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: runs code before or after main: .init_array
int tokens();

int context_length = tokens();
