/* SPDX-License-Identifier: MIT
 *
 * Someone else's program in C. */
#include <tinyattn/tinyattn.h>

int main(void) {
  const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1};
  float out[4];
  return tinyattn_matmul(2, 3, 2, a, b, out) == TINYATTN_OK && out[0] == 4 && out[1] == 5 && out[2] == 10 && out[3] == 11 ? 0 : 1;
}
