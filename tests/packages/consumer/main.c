/* SPDX-License-Identifier: MIT
 *
 * Someone else's program in C: ends with 0 if the compiled library is there and computes. */
#include <tinyattn/tinyattn.h>
#include <tinyattn/tinyattn_models.h>

int main(void) {
  const float a[] = {1, 2, 3, 4};
  const float b[] = {5, 6, 7, 8};
  float out[4];
  if (tinyattn_matmul(2, 2, 2, a, b, out) != TINYATTN_OK) return 1;
  return out[0] == 19 && out[1] == 22 && out[2] == 43 && out[3] == 50 ? 0 : 1;
}
