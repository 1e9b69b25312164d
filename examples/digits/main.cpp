// SPDX-License-Identifier: MIT
//
// Reads 360 handwritten digits that took no part in training. The same source runs on the machine you sit at and as firmware. Lines
// that begin with "board:" depend on the machine; all others are the same everywhere. Fails unless PyTorch computes the same.
#include <cstddef>
#include <cstdint>

#include "../support/print.hpp"
#include "board.h"
#include "model.hpp"
#include "picture.hpp"
#include "score.hpp"

namespace digits { namespace {

using namespace support;

constexpr float tolerance = is_int8 ? 0.2f : 1e-5f;

void print_model() {
  print("tinyattn: handwritten digits\n\n");
  print("model            ", width, " wide, ", num_heads, " heads, ", grouped(parameter_count), " parameters in ", grouped(parameter_bytes),
        " bytes", is_int8 ? ", weights in int8\n" : "\n");
  print("held out         ", num_images, " images that took no part in training, ",
        grouped(sizeof(held_out::pixels) + sizeof(held_out::labels) + sizeof(held_out::logits)), " bytes with PyTorch's logits\n");
}

void print_pictures(const Score& score) {
  const Pictures pictures{held_out::pixels, held_out::labels};
  print("\nThe first of them:\n\n");
  print_readings(pictures, score.first.all());
  const std::size_t wrong = num_images - score.right;
  if (wrong == 0) return;
  print(score.first_wrong.all().size() == wrong ? "All" : "The first", " that are read wrong:\n\n");
  print_readings(pictures, score.first_wrong.all());
}

// Formats a number such as "0.000002384".
Text nine_decimals(float x) {
  const std::uint64_t count = rounded_product(x, 1000000000);
  Text text = integer(count / 1000000000);
  text.append('.');
  text.append(integer(count % 1000000000, 9).c_str());
  return text;
}

void print_score(const Score& score) {
  print("accuracy         ", percent(score.right, num_images), ", ", score.right, " of ", num_images, " images read right\n");
  print("as PyTorch       ", score.as_pytorch, " of ", num_images, " predictions; no logit differs by more than ",
        nine_decimals(score.largest_difference), "\n");
  print("crc32 of logits  ", hexadecimal(score.checksum.value()), "\n");
}

void print_cost(const Score& score) {
  print("board: ", board_name, "\n");
  print("board: ", grouped(sizeof(Scratch)), " bytes of scratch\n");
  if (score.ticks == 0) return;
  print("board: ", grouped(board_instructions(score.ticks) / num_images), " instructions an image\n");
  print("board: ", grouped(board_stack_used()), " bytes of stack used at the deepest\n");
}

}}  // namespace digits

int main() {
  using namespace digits;
  static Scratch scratch;
  static Score score;
  score_images(score, scratch);
  print_model();
  print_pictures(score);
  print_score(score);
  print_cost(score);
  return score.as_pytorch == num_images && score.largest_difference <= tolerance ? 0 : 1;
}
