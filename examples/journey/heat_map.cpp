// SPDX-License-Identifier: MIT
//
// Draws attention weights as a picture made of characters: a row for each query, a column for each key.
#include "stages.hpp"

namespace journey {
namespace {

using Weights = tinyattn::Matrix<float, num_tokens, num_tokens>;

constexpr std::size_t label_width = 8;
constexpr std::size_t cell_width = 5;
constexpr std::size_t gap = 2;

void print_padded(const char* text, std::size_t width) {
  Text padded;
  padded.append(text);
  while (padded.length() < width) padded.append(' ');
  print(padded);
}

void print_titles(const char* left, const char* right) {
  print_spaces(label_width);
  print_padded(left, num_tokens * cell_width + gap);
  print_spaces(label_width);
  print(right, "\n");
}

// Prints the labels of every second column: in one line, all labels would overlap.
void print_column_labels(std::size_t first) {
  const std::size_t before = first * cell_width;
  for (int map = 0; map < 2; ++map) {
    print_spaces(label_width + (map == 0 ? before : gap));
    for (std::size_t j = first; j < num_tokens; j += 2) print_padded(tokens[j], 2 * cell_width);
  }
  print("\n");
}

// Returns the shade of a weight. Each shade begins at 1.5 times the weight of the one before.
const char* shade(float weight) {
  if (weight < 0.12f) return "  ";
  if (weight < 0.18f) return "░░";
  if (weight < 0.27f) return "▒▒";
  if (weight < 0.40f) return "▓▓";
  return "██";
}

void print_row(const Weights& weights, std::size_t i) {
  print_padded(tokens[i], label_width);
  for (std::size_t j = 0; j < num_tokens; ++j) {
    const bool hidden = weights(i, j) == 0.0f;
    print(hidden ? " ." : shade(weights(i, j)));
    print_padded(hidden ? "" : integer(rounded_product(weights(i, j), 100)).c_str(), cell_width - 2);
  }
}

}  // namespace

void print_heat_maps(const Weights& normal, const Weights& causal) {
  print("\nHeat map: how much the token of each row attends to the token of each column, in percent\n\n");
  print_titles("normal", "causal");
  print_column_labels(0);
  print_column_labels(1);
  for (std::size_t i = 0; i < num_tokens; ++i) {
    print_row(normal, i);
    print_spaces(gap);
    print_row(causal, i);
    print("\n");
  }
  print("\n        ░░ from 12   ▒▒ from 18   ▓▓ from 27   ██ from 40    . hidden by the mask\n");
}

}  // namespace journey
