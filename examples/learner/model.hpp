// SPDX-License-Identifier: MIT
//
// A model that reverses eight digits, and a step of its training; of the size of ATTN/11, which learned this on a PDP-11.
//
//   digits [8]  --token embedding + position embedding-->  x [8, 16]  --attention, one head-->  + x  --head-->  logits [8, 10]
#pragma once

#include <cstddef>
#include <cstdint>

#include "tinyattn/training.hpp"

namespace learner {

inline constexpr std::size_t length = 8;       // digits of a sequence
inline constexpr std::size_t vocabulary = 10;  // the digits
inline constexpr std::size_t width = 16;       // features of a digit
inline constexpr std::size_t steps = 120;      // of a training, each with one sequence

using Sequence = tinyattn::Vector<tinyattn::Token, length>;
using Features = tinyattn::Matrix<float, length, width>;
using Logits = tinyattn::Matrix<float, length, vocabulary>;
using Map = tinyattn::Matrix<float, length, length>;  // the weights of the head: a row for each query, a column for each key

struct Model {
  tinyattn::Embedding<vocabulary, width> token;
  tinyattn::Embedding<length, width> position;
  tinyattn::Linear<width, width, false> query, key, value;
  tinyattn::Linear<width, vocabulary, false> head;

  using Parts = tinyattn::Parameters<&Model::token, &Model::position, &Model::query, &Model::key, &Model::value, &Model::head>;
};
inline constexpr std::size_t parameter_count = sizeof(Model) / sizeof(float);
static_assert(parameter_count == 1216);

// The settings of a training, which search.cpp found on seeds 1 to 160.
struct Settings {
  // The weights of a part are drawn uniformly between minus this and this.
  struct Range {
    float token, position, query_and_key, value, head;
  } range;
  // The rates of stochastic gradient descent in the first step, which fall in a line to half of that.
  struct Rate {
    float embedding, attention, head;
  } rate;
  float max_norm;  // of the gradient, to which it is clipped
};
inline constexpr Settings best_settings{
    .range = {.token = 0.1f, .position = 1.26f, .query_and_key = 0.4f, .value = 1.57f, .head = 0.43f},
    .rate = {.embedding = 2.3f, .attention = 0.81f, .head = 0.14f},
    .max_norm = 1.4f,
};

// All memory of the model and its training.
struct Memory {
  Model model, gradient;
  Features x, query, key, value, h;  // what the forward pass leaves to the backward pass
  Features key_gradient, value_gradient;
  union {
    Logits logits;
    Map map;  // where the head looks
  };
};

// The numbers of a seed come from a stream for each purpose.
enum class Stream : std::uint64_t { weights, training, test, search };

// Returns sequence `index` of a stream: any of the 10^8, each as likely as another.
Sequence draw(std::uint64_t seed, Stream stream, std::uint64_t index);

// Draws the weights that training starts from, and sets the gradient to 0.
void start(Memory& memory, const Settings& settings, std::uint64_t seed);

// Runs the model on a sequence, forward and backward. Adds to the gradient, and returns the loss.
float add_gradient(Memory& memory, const Sequence& digits);

// Makes step `index` of stochastic gradient descent, and sets the gradient to 0.
void step(Memory& memory, const Settings& settings, std::size_t index);

// Learns from sequence `index` of a seed: its gradient, and a step. Returns the loss that it had.
inline float learn(Memory& memory, const Settings& settings, std::uint64_t seed, std::size_t index) {
  const float loss = add_gradient(memory, draw(seed, Stream::training, index));
  step(memory, settings, index);
  return loss;
}

// Writes what the model makes of a sequence.
Sequence predict(Memory& memory, const Sequence& digits);

// Returns how many digits of the sequence the model puts where they belong.
std::size_t count_right(Memory& memory, const Sequence& digits);

// Returns where the head looks when the model reads these digits. It lies where the logits do.
const Map& look(Memory& memory, const Sequence& digits);

}  // namespace learner
