// SPDX-License-Identifier: MIT
//
// "Your journey starts with one step": from dot products to multi-head attention, in the order in which the notes build it up.
// The same source runs on the machine you sit at and as firmware; both print the same tables and the same checksums.
#include "stages.hpp"

int main() {
  using namespace journey;
  print("tinyattn: six tokens on their way through attention\n");
  print("board: ", board_name, "\n");
  print("tokens:");
  for (const char* token : tokens) print(" ", token);
  print("\n");

  Report report;
  simple_attention(report);
  trainable_weights(report);
  linear_layers(report);
  causal_mask(report);
  dropout_of_weights(report);
  heads(report);
  attention_function(report);
  head_splitting(report);
  normal_against_causal(report);
  configurations(report);

  print("\ncrc32 of all tables ", hexadecimal(report.checksum_of_all()), "\n");
  if (board_stack_used() != 0) print("board: ", std::size_t{board_stack_used()}, " bytes of stack used at the deepest\n");
  return report.claims_hold() ? 0 : 1;
}
