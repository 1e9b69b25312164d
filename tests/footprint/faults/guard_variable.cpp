// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: holds _ZGVZ6attendfE5scale: a guard variable
float attend(float x) {
  static const float scale = 2.0f * x;
  return scale * x;
}
