// SPDX-License-Identifier: MIT
//
// A main loop and an interrupt. A timer interrupt only takes samples; the main loop attends over
// whole windows of them, and sleeps in between. The library keeps no state of its own, so a layer
// may also run in an interrupt while it runs in the main loop, if each has its own Workspace. Here
// the interrupt smooths the last samples.
#include <cstddef>
#include <cstdint>

#include "interrupts.hpp"
#include "ping_pong.hpp"
#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;

constexpr std::size_t window_tokens = 8, width = 8;

using Layer = MultiHeadAttention<AttentionConfig{
    .d_in = width, .d_out = width, .context_length = window_tokens, .num_heads = 2}>;
using Sample = Vector<float, width>;
using Samples = PingPong<window_tokens, width>;

// Its random weights are drawn at compile time, so that it lies in flash.
constexpr Layer layer = [] {
  Layer drawn{};
  Mt19937 generator(123);
  initialize(drawn, generator);
  return drawn;
}();

static Samples samples;

// Data that only the interrupt accesses.
static struct {
  std::uint32_t time = 0;
  Matrix<float, 2, width> last{}, smoothed{};
  Layer::Workspace workspace;
} at_interrupt;

// Stands in for a sensor: numbers between 0 and 1 that differ from sample to sample.
static Sample measure(std::uint32_t time) {
  Philox4x32 generator(time);
  return rand<width>(generator);
}

static void on_timer() {
  auto& [time, last, smoothed, workspace] = at_interrupt;
  const Sample sample = measure(time++);
  for (std::size_t j = 0; j < width; ++j) {
    last(0, j) = last(1, j);
    last(1, j) = sample(j);
  }
  layer.forward(last, smoothed, workspace);
  samples.put(row(smoothed, 1));
}

// Sleeps until there is a window, attends over it, and calls `use` with its input and output.
static void attend_next(auto use) {
  static Layer::Workspace workspace;
  static Samples::Window out;
  const Samples::Window* window = nullptr;
  while ((window = samples.take()) == nullptr) sleep_until_interrupt();
  layer.forward(*window, out, workspace);
  use(*window, out);
  samples.release();
}

// --- What it shows ---
#include <array>

#include "claims.h"

struct Seen {
  Samples::Window in, out;
};

static std::uint32_t now() { return const_cast<const volatile std::uint32_t&>(at_interrupt.time); }

int main() {
  static std::array<Seen, 6> seen;
  static Layer::Workspace workspace;
  std::size_t count = 0;
  start_timer(on_timer);
  while (count < seen.size())
    attend_next([&](const Samples::Window& in, const Samples::Window& out) {
      auto& [kept, again] = seen[count++];
      kept = in;
      again = out;
      const std::uint32_t begin = now();
      while (again == out && now() - begin < 3)
        layer.forward(in, again, workspace);  // repeats until interrupts have occurred meanwhile
    });
  stop_timer();

  bool differ = true, same = true;
  for (std::size_t i = 0; i < count; ++i) {
    differ = differ && (i == 0 || seen[i].in != seen[i - 1].in);
    same = same && seen[i].out == layer(seen[i].in);
  }
  claim("six windows came, one after the other", differ);
  claim("the main loop has the bits of the same layer without interrupts", same);
  claim("the interrupt too, which ran in the midst of it",
        at_interrupt.smoothed == layer(at_interrupt.last));
  return verdict();
}
