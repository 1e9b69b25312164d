// SPDX-License-Identifier: MIT
//
// The functions that listener.html calls: they run the model of ../listener frame by frame. The page writes samples and reads logits in
// place.
#include <cstddef>

#include "../listener/model.hpp"
#include "../support/checksum.hpp"
#include "recordings.hpp"

namespace {

using namespace listener;

constexpr std::size_t num_recordings = recordings::samples.extent(0), length = recordings::samples.extent(1);

Memory memory;
Run run;
Logits logits;

// Copies a frame of a recording into the model's input.
void take_frame(std::size_t recording, std::size_t begin) {
  const auto samples = next_samples(memory);
  for (std::size_t i = 0; i < frame_samples; ++i) samples[i] = static_cast<float>(recordings::samples(recording, begin + i)) / 127.0f;
}

}  // namespace

extern "C" {

int listener_parameters() { return static_cast<int>(parameter_count); }
int listener_classes() { return static_cast<int>(num_classes); }
int listener_sample_rate() { return static_cast<int>(sample_rate); }
int listener_frame_samples() { return static_cast<int>(frame_samples); }
// The logits of the last frame, one for each class: the digits, and none.
const float* listener_logits() { return logits.data(); }
// The next samples, from -1 to 1.
float* listener_samples() { return next_samples(memory).data(); }

// Starts in silence.
void listener_start() {
  start(memory);
  run = {};
}

// Runs the model on the next samples. Returns the digit if one has just been recognized, or -1.
int listener_hear() {
  logits = hear(memory);
  const std::size_t label = argmax(logits);
  return run.add(label) ? static_cast<int>(label) : -1;
}

int listener_recordings() { return static_cast<int>(num_recordings); }
int listener_recording_samples() { return static_cast<int>(length); }
// The label of a recording: a digit, or another word.
int listener_label(int recording) { return recordings::labels(static_cast<std::size_t>(recording)); }
// Copies a frame of a recording to listener_samples().
void listener_take_frame(int recording, int frame) {
  take_frame(static_cast<std::size_t>(recording) % num_recordings, static_cast<std::size_t>(frame) * frame_samples % length);
}

// Returns the CRC-32 of the logits of all recordings in one stream, which every board prints. Starts anew.
unsigned listener_checksum() {
  support::Checksum checksum;
  listener_start();
  for (std::size_t recording = 0; recording < num_recordings; ++recording)
    for (std::size_t begin = 0; begin < length; begin += frame_samples) {
      take_frame(recording, begin);
      checksum.add(hear(memory).data(), num_classes);
    }
  listener_start();
  return checksum.value();
}
}
