// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: needs __aeabi_unwind_cpp_pr1: unwinding
void other();

int attend() {
  other();
  return 1;
}
