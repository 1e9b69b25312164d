// SPDX-License-Identifier: MIT
//
// Weights in an external flash. The exporter writes the numbers into a binary, and a header of
// their types:
//
//   python3 ports/pytorch/export.py multihead_attention.safetensors -o placed.hpp
//     --name placed --binary placed.bin ...
//
// The binary goes to any address that is a multiple of four, and is used in place, without a copy.
// Here the assembler puts it into a section, and external_flash.ld puts that section into a chip of
// its own. A flash programmer may as well write it to a known address:
// placed::weights(reinterpret_cast<const void*>(0x90000000)).
#include "placed.hpp"
#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;

asm(".pushsection .external_flash, \"a\"\n"
    ".balign 4\n"
    ".globl placed_binary\n"
    "placed_binary: .incbin \"" PLACED_BINARY
    "\"\n"
    ".popsection");
extern "C" const unsigned char placed_binary[];

using Layer = decltype(placed::Weights::attention);

static Layer::Workspace workspace;

static void attend(const Matrix<float, 5, 8>& tokens, Matrix<float, 5, 8>& out) {
  placed::weights(placed_binary).attention.forward(tokens, out, workspace);
}

// --- What it shows ---
#include "by_pytorch.hpp"
#include "claims.h"
#include "trained.hpp"

#ifdef HAS_EXTERNAL_FLASH
// Symbols that external_flash.ld defines.
extern "C" const unsigned char external_flash_begin[], external_flash_end[];
static bool is_outside(const void* address) {
  return external_flash_begin <= address && address < external_flash_end;
}
#endif

int main() {
  static Layer::Workspace other;
  Matrix<float, 5, 8> out, from_constants;
  attend(by_pytorch::input, out);
  trained::attention.forward(by_pytorch::input, from_constants, other);
  claim("the layer has the bits of the one whose weights are constants", out == from_constants);
#ifdef HAS_EXTERNAL_FLASH
  claim("its weights lie in the external chip",
        is_outside(&placed::weights(placed_binary).attention));
  claim("the constants do not", !is_outside(&trained::attention));
#endif
  return verdict();
}
