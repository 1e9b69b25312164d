// SPDX-License-Identifier: MIT
#include "model.hpp"

#include <algorithm>

namespace listener {
namespace {

// Moves the last `count` elements to the front.
void keep_last(std::span<float> elements, std::size_t count) {
  std::copy(elements.end() - static_cast<std::ptrdiff_t>(count), elements.end(), elements.begin());
}

// Sets the mean loudness of `pooled` outputs of each filter, as its fourth root.
void set_sound(const Memory& memory, std::size_t index, std::span<float> sound) {
  const tinyattn::MatrixView<const float, pooled, num_filters, num_filters> rows{memory.filtered.data() + index * pooled * num_filters};
  tinyattn::Vector<float, num_filters> loudness;
  mean(rows, loudness);
  for (std::size_t i = 0; i < num_filters; ++i) sound[i] = tinyattn::sqrt(tinyattn::sqrt(loudness(i) + floor));
}

// Filters the new samples, and appends their sounds.
void filter(Memory& memory) {
  constexpr std::size_t kept = sounds_of_frame - new_sounds;
  weights::filters.forward(memory.samples, memory.filtered);
  relu(memory.filtered, memory.filtered);
  keep_last({memory.samples.data(), memory.samples.size()}, kernel - stride);
  keep_last({memory.sounds.data(), memory.sounds.size()}, kept * num_filters);
  for (std::size_t i = 0; i < new_sounds; ++i) set_sound(memory, i, {memory.sounds.data() + (kept + i) * num_filters, num_filters});
}

}  // namespace

void start(Memory& memory) {
  memory.cache.clear();
  memory.samples = {};
  filter(memory);
}

Logits hear(Memory& memory) {
  filter(memory);
  weights::sounds.forward(memory.sounds, memory.frame);
  static_cast<void>(weights::model.transformer.forward(memory.frame, memory.cache, memory.frame, memory.workspace));
  weights::model.head.forward(memory.frame, memory.logits);
  return row(memory.logits, 0);
}

}  // namespace listener
