// SPDX-License-Identifier: MIT
//
// The model that train.py trains: maps 40 ms of samples, and its memory of earlier ones, to a logit for each class.
//
//   samples  --filters-->  [16, 24]  --relu, mean of 8, fourth root-->  sounds [2, 24], of 20 ms each
//   the last four sounds  --Conv1d-->  frame [48]  --two blocks, with a window of 20 frames-->  [48]  --head-->  logits [11]
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "tinyattn/tinyattn.hpp"
#include "weights.hpp"

namespace listener {

inline constexpr std::size_t sample_rate = 8000;   // samples a second
inline constexpr std::size_t frame_samples = 320;  // the new samples of a frame
inline constexpr std::size_t num_digits = 10;      // the class of a digit is its value
inline constexpr std::size_t none = num_digits;    // the class of silence and of other words
inline constexpr std::size_t num_classes = none + 1;

inline constexpr std::size_t kernel = 32, stride = 20, num_filters = 24;  // of the filters
inline constexpr std::size_t pooled = 8;                                  // outputs of a filter in one sound
inline constexpr std::size_t passed = frame_samples / stride;             // outputs of a filter in one frame
inline constexpr std::size_t new_sounds = passed / pooled, sounds_of_frame = 4;
inline constexpr float floor = 1e-6f;  // added before the root

using Model = std::remove_const_t<decltype(weights::model)>;
using Filters = std::remove_const_t<decltype(weights::filters)>;
using Sounds = std::remove_const_t<decltype(weights::sounds)>;
using Body = Model::Body;

inline constexpr std::size_t width = Model::d_model;
inline constexpr std::size_t parameter_count = Filters::parameter_count + Sounds::parameter_count + Model::parameter_count;
inline constexpr std::size_t parameter_bytes = Filters::parameter_bytes + Sounds::parameter_bytes + Model::parameter_bytes;
static_assert(parameter_count <= 60'000);

template <tinyattn::LanguageModelConfig config>
constexpr tinyattn::LanguageModelConfig config_of(const tinyattn::LanguageModel<config>&) {
  return config;
}
inline constexpr tinyattn::LanguageModelConfig config = config_of(weights::model);
inline constexpr std::size_t window = config.transformer.block.attention.window;
static_assert(config.vocabulary == num_classes);

using Logits = tinyattn::Vector<float, num_classes>;

// All memory that the model writes to, of a size known at compile time.
struct Memory {
  tinyattn::Matrix<float, kernel - stride + frame_samples, 1> samples{};  // the last samples of the frame before, and the new ones
  tinyattn::Matrix<float, passed, num_filters> filtered{};
  tinyattn::Matrix<float, sounds_of_frame, num_filters> sounds{};  // the last sounds of the frame before, and the new ones
  tinyattn::Matrix<float, 1, width> frame{};
  tinyattn::Matrix<float, 1, num_classes> logits{};
  Body::Cache cache{};
  Body::Cache::Workspace workspace{};
};
static_assert(sizeof(Memory) <= 14 * 1024, "a micro:bit has 16 KB for it and for the stack");

// Starts in silence.
void start(Memory& memory);

// Returns the place where the next samples go, from -1 to 1.
inline std::span<float, frame_samples> next_samples(Memory& memory) {
  return std::span<float, frame_samples>{memory.samples.data() + (kernel - stride), frame_samples};
}

// Runs the model on these samples. Returns the frame's logits.
Logits hear(Memory& memory);

// Finds digits in a stream of classes: enough frames in a row with the same one.
class Run {
 public:
  static constexpr std::size_t enough = 3;

  // Takes the next frame's class. Returns whether a digit has just been recognized.
  constexpr bool add(std::size_t next) {
    length_ = next == last_ ? length_ + 1 : 1;
    last_ = next;
    if (next == none || length_ < enough) return false;
    if (length_ > longest_) longest_ = length_, digit_ = next;
    return length_ == enough;
  }
  // The digit of the longest run, of several the first; `none` if no run is long enough.
  constexpr std::size_t digit() const { return digit_; }

 private:
  std::size_t last_ = none, length_ = 0, longest_ = 0, digit_ = none;
};

}  // namespace listener
