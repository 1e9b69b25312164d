// SPDX-License-Identifier: MIT
// board: mps2-an386
// found: holds _ZTV4Mask: type information
struct Mask {
  virtual bool sees(int) const;
};

bool Mask::sees(int key) const { return key == 0; }
