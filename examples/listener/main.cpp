// SPDX-License-Identifier: MIT
//
// Listens to twelve words by voices that took no part in training, as to a microphone: frame by frame, in one stream. The same source
// runs on the machine you sit at and as firmware. Lines that begin with "board:" depend on the machine; all others are the same
// everywhere. Fails unless PyTorch, whose weights are floats, hears the same in nearly all frames.
#include <cstddef>
#include <cstdint>

#include "../support/checksum.hpp"
#include "../support/print.hpp"
#include "board.h"
#include "model.hpp"
#include "recordings.hpp"

namespace listener { namespace {

using namespace support;

constexpr std::size_t num_recordings = recordings::samples.extent(0), num_frames = recordings::samples.extent(1) / frame_samples;
constexpr const char* words[] = {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "-"};

struct Score {
  std::size_t frames = 0, as_pytorch = 0;  // in which the largest logit is PyTorch's
  float largest_difference = 0.0f;         // between a logit and PyTorch's
  Checksum checksum;                       // of all logits
  unsigned long long ticks = 0;
};

// Returns by how much the logit of a class exceeds every other logit.
float margin_of(const Logits& logits, std::size_t label) {
  float margin = 1e30f;
  for (std::size_t i = 0; i < num_classes; ++i)
    if (i != label && logits(label) - logits(i) < margin) margin = logits(label) - logits(i);
  return margin;
}

// The results for a recording.
struct Heard {
  char frames[num_frames + 1] = {};  // a digit or a dot for each
  Run run;
  float margins[num_digits] = {};  // the largest for each digit
};

void compare(const Logits& logits, const Logits& logits_of_pytorch, Score& score) {
  score.as_pytorch += argmax(logits) == argmax(logits_of_pytorch) ? 1 : 0;
  for (std::size_t i = 0; i < num_classes; ++i) {
    const float difference = logits(i) < logits_of_pytorch(i) ? logits_of_pytorch(i) - logits(i) : logits(i) - logits_of_pytorch(i);
    if (difference > score.largest_difference) score.largest_difference = difference;
  }
}

Logits timed_logits(Memory& memory, Score& score) {
  const unsigned long long begin = board_ticks();
  const Logits logits = hear(memory);
  score.ticks += board_ticks() - begin;
  compare(logits, row(recordings::logits, score.frames), score);
  score.checksum.add(logits.data(), logits.size());
  ++score.frames;
  return logits;
}

Heard listen(std::size_t recording, Memory& memory, Score& score) {
  Heard heard;
  for (std::size_t frame = 0; frame < num_frames; ++frame) {
    const auto samples = next_samples(memory);
    for (std::size_t i = 0; i < frame_samples; ++i)
      samples[i] = static_cast<float>(recordings::samples(recording, frame * frame_samples + i)) / 127.0f;
    const Logits logits = timed_logits(memory, score);
    const std::size_t label = argmax(logits);
    heard.run.add(label);
    heard.frames[frame] = label == none ? '.' : static_cast<char>('0' + label);
    if (label != none && margin_of(logits, label) > heard.margins[label]) heard.margins[label] = margin_of(logits, label);
  }
  return heard;
}

void print_left_aligned(const char* text, std::size_t columns) {
  Text padded;
  padded.append(text);
  while (padded.length() < columns) padded.append(' ');
  print(padded);
}

void print_heard(std::size_t label, const Heard& heard) {
  const std::size_t digit = heard.run.digit();
  print_left_aligned(words[label], 8);
  print_left_aligned(words[digit], 8);
  print(heard.frames, "  ");
  if (digit != none) print(decimal(heard.margins[digit]));
  print("\n");
}

constexpr const char* name_of(tinyattn::Weights weights) { return weights == tinyattn::Weights::int8 ? "int8" : "f32"; }

void print_model() {
  print("tinyattn: ten spoken digits\n\n");
  print("model            ", num_filters, " filters, ", width, " wide, ", config.transformer.num_layers, " layers, ",
        grouped(parameter_count), " parameters in ", grouped(parameter_bytes), " bytes\n");
  print("stored           weights in ", name_of(config.weights), ", cache in ", name_of(config.transformer.block.attention.cache), "\n");
  print("frame            ", frame_samples, " samples, 40 ms; a layer sees the last ", window, " frames\n\n");
  print("said    heard   frame by frame             margin\n");
}

void print_score(const Score& score) {
  print("\nas PyTorch       ", score.as_pytorch, " of ", score.frames, " frames; no logit differs by more than ",
        decimal(score.largest_difference), "\n");
  print("crc32 of logits  ", hexadecimal(score.checksum.value()), "\n");
}

void print_cost(const Score& score) {
  print("board: ", board_name, "\n");
  print("board: ", grouped(sizeof(Memory)), " bytes of memory\n");
  if (score.ticks == 0) return;
  const std::uint64_t each = board_instructions(score.ticks) / (num_recordings * num_frames);
  print("board: ", grouped(each), " instructions a frame\n");
  print("board: ", grouped(each * sample_rate / frame_samples), " instructions a second of sound\n");
  print("board: ", grouped(board_stack_used()), " bytes of stack used at the deepest\n");
}

}}  // namespace listener

int main() {
  using namespace listener;
  static Memory memory;
  Score score;
  start(memory);
  print_model();
  for (std::size_t recording = 0; recording < num_recordings; ++recording)
    print_heard(recordings::labels(recording), listen(recording, memory, score));
  print_score(score);
  print_cost(score);
  return score.as_pytorch >= score.frames - score.frames / 20 ? 0 : 1;
}
