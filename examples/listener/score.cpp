// SPDX-License-Identifier: MIT
//
// Counts the words that are recognized, with the arithmetic of the boards, and prints a confusion matrix:
//
//   score FILE
//
// FILE, written by words.py, has for each word: one byte, its class; four bytes, the number of its samples; and the samples in 16 bits, all
// little-endian.
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "model.hpp"

namespace listener { namespace {

using Counts = std::array<std::array<int, num_classes>, num_classes>;  // by the spoken and the recognized class

std::size_t number_at(const std::string& bytes, std::size_t place, std::size_t count) {
  std::size_t number = 0;
  for (std::size_t i = count; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[place + i]);
  return number;
}

float sample_at(const std::string& bytes, std::size_t place) {
  return static_cast<float>(static_cast<std::int16_t>(number_at(bytes, place, 2))) / 32768.0f;
}

// Returns the digit recognized in `count` samples after silence, or none.
std::size_t hear_word(const std::string& bytes, std::size_t place, std::size_t count) {
  static Memory memory;
  start(memory);
  Run run;
  for (std::size_t begin = 0; begin + frame_samples <= count; begin += frame_samples) {
    const auto samples = next_samples(memory);
    for (std::size_t i = 0; i < frame_samples; ++i) samples[i] = sample_at(bytes, place + 2 * (begin + i));
    run.add(argmax(hear(memory)));
  }
  return run.digit();
}

Counts count_words(const std::string& bytes) {
  Counts counts{};
  for (std::size_t place = 0; place + 5 <= bytes.size();) {
    const std::size_t said = number_at(bytes, place, 1), count = number_at(bytes, place + 1, 4);
    ++counts[said < none ? said : none][hear_word(bytes, place + 5, count)];
    place += 5 + 2 * count;
  }
  return counts;
}

void print_right(int right, int all, const char* what) {
  std::printf("%d of %d %s (%.1f %%)", right, all, what, all == 0 ? 0.0 : 100.0 * right / all);
}

void print_sums(const Counts& counts) {
  int right = 0, all = 0, others = 0;
  for (std::size_t said = 0; said < none; ++said) {
    right += counts[said][said];
    for (const int count : counts[said]) all += count;
  }
  for (const int count : counts[none]) others += count;
  std::printf("Right: ");
  print_right(right, all, "digits");
  std::printf(", ");
  print_right(counts[none][none], others, "other words");
  std::printf(".\n");
}

void print_table(const Counts& counts) {
  std::printf("\n| said |");
  for (std::size_t heard = 0; heard < none; ++heard) std::printf(" %zu |", heard);
  std::printf(" none |\n| --- |");
  for (std::size_t heard = 0; heard < num_classes; ++heard) std::printf(" ---: |");
  for (std::size_t said = 0; said < num_classes; ++said) {
    std::printf(said < none ? "\n| %zu |" : "\n| other |", said);
    for (const int count : counts[said]) count == 0 ? std::printf(" |") : std::printf(" %d |", count);
  }
  std::printf("\n");
}

}}  // namespace listener

int main(int argc, char** argv) {
  using namespace listener;
  std::ifstream file(argc == 2 ? argv[1] : "", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty()) {
    std::puts("usage: score FILE, which words.py writes");
    return 2;
  }
  const Counts counts = count_words(bytes);
  print_sums(counts);
  print_table(counts);
  return 0;
}
