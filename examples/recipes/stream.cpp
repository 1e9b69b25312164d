// SPDX-License-Identifier: MIT
//
// An endless stream. A timer interrupt takes samples, and the main loop passes each full frame of
// them to a Transformer with a window, which remembers the last frames; so memory stays constant
// however long the device runs. The main loop has the time of a frame; if it is slower, frames are
// lost, and counted.
#include <cstddef>
#include <cstdint>

#include "interrupts.hpp"
#include "ping_pong.hpp"
#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;

constexpr std::size_t window = 8, width = 8, samples_per_feature = 16;

// `context_length` bounds only a call without a cache.
using Model = Transformer<TransformerConfig{
    .block = {.attention = {.d_in = width,
                            .d_out = width,
                            .context_length = 3 * window,
                            .num_heads = 2,
                            .window = window},
              .feed_forward = {.d_model = width, .d_hidden = 2 * width}},
    .num_layers = 2}>;
using Samples = PingPong<width * samples_per_feature, 1>;
using Frame = Matrix<float, 1, width>;

static Samples samples;
static std::uint32_t time_of_interrupt = 0;

// All the RAM that the main loop takes: the keys and values of eight frames, and scratch.
static struct {
  Model::Cache cache;
  Model::Cache::Workspace workspace;
} memory;
static_assert(sizeof memory <= 1536);

// Stands in for a sensor: returns a number from -1 to 1.
static float measure(std::uint32_t time) {
  Philox4x32 generator(time);
  return uniform(generator, -1.0f, 1.0f);
}

static void on_timer() { samples.put({measure(time_of_interrupt++)}); }

// A feature is the loudness of sixteen consecutive samples, from 0 to 1.
static Frame features(const Samples::Window& sampled) {
  Frame frame{};
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    const float sample = sampled(i, 0);
    frame(0, i / samples_per_feature) += (sample < 0 ? -sample : sample) / samples_per_feature;
  }
  return frame;
}

// Sleeps until there is a frame, and returns the model's output for it and the frames before it.
static Frame take_next(const Model& model) {
  const Samples::Window* sampled = nullptr;
  while ((sampled = samples.take()) == nullptr) sleep_until_interrupt();
  const Frame frame = features(*sampled);
  samples.release();  // the next frame may come during the computation
  Frame out;
  static_cast<void>(model.forward(frame, memory.cache, out, memory.workspace));
  return out;
}

// --- What it shows ---
#include "claims.h"

constexpr std::size_t num_frames = 3 * window;
using Frames = Matrix<float, num_frames, width>;

static void put(const Frame& frame, Frames& frames, std::size_t i) {
  for (std::size_t j = 0; j < width; ++j) frames(i, j) = frame(0, j);
}

// The frames that the interrupt takes if none is lost.
static Frames frames_of_sensor() {
  Frames frames;
  Samples::Window sampled;
  for (std::uint32_t time = 0; time < num_frames * sampled.size(); ++time) {
    sampled(time % sampled.size(), 0) = measure(time);
    if ((time + 1) % sampled.size() == 0) put(features(sampled), frames, time / sampled.size());
  }
  return frames;
}

int main() {
  static Model model;
  static Frames streamed, at_once;
  static Model::Workspace workspace;
  Mt19937 generator(123);
  initialize(model, generator);

  start_timer(on_timer);
  for (std::size_t i = 0; i < num_frames; ++i) put(take_next(model), streamed, i);
  stop_timer();
  model.forward(frames_of_sensor(), at_once, workspace);

  claim("of the frames of three windows none was lost", samples.lost() == 0);
  claim("their outputs have the bits of one call without a cache", streamed == at_once);
  claim("the cache has counted them all", memory.cache.size() == num_frames);
  return verdict();
}
