// SPDX-License-Identifier: MIT
//
// A model that reverses eight digits, and its training step; of the size of ATTN/11, which learned this on a PDP-11.
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
using Map = tinyattn::Matrix<float, length, length>;  // attention weights: a row for each query, a column for each key

struct Model {
  tinyattn::Embedding<vocabulary, width> token;
  tinyattn::Embedding<length, width> position;
  tinyattn::Linear<width, width, false> query, key, value;
  tinyattn::Linear<width, vocabulary, false> head;

  using Parts = tinyattn::Parameters<&Model::token, &Model::position, &Model::query, &Model::key, &Model::value, &Model::head>;
};
inline constexpr std::size_t parameter_count = sizeof(Model) / sizeof(float);
static_assert(parameter_count == 1216);

// Settings of a training, found by search.cpp on seeds 1 to 160.
struct Settings {
  // The weights of a part are drawn uniformly from -range to range.
  struct Range {
    float token, position, query_and_key, value, head;
  } range;
  // The initial learning rates of stochastic gradient descent, which fall linearly to half of that.
  struct Rate {
    float embedding, attention, head;
  } rate;
  float max_norm;  // to which the gradient is clipped
};
inline constexpr Settings best_settings{
    .range = {.token = 0.1f, .position = 1.26f, .query_and_key = 0.4f, .value = 1.57f, .head = 0.43f},
    .rate = {.embedding = 2.3f, .attention = 0.81f, .head = 0.14f},
    .max_norm = 1.4f,
};

// All memory of the model and its training.
struct Memory {
  Model model, gradient;
  Features x, query, key, value, h;  // activations that the backward pass needs
  Features key_gradient, value_gradient;
  union {
    Logits logits;
    Map map;  // attention weights
  };
};

// A seed has a random stream for each purpose.
enum class Stream : std::uint64_t { weights, training, test, search };

// Returns sequence `index` of a stream: one of 10^8, all equally likely.
Sequence draw(std::uint64_t seed, Stream stream, std::uint64_t index);

// Draws the initial weights, and sets the gradient to 0.
void start(Memory& memory, const Settings& settings, std::uint64_t seed);

// Runs the model forward and backward on a sequence. Accumulates the gradient, and returns the loss.
float add_gradient(Memory& memory, const Sequence& digits);

// Makes step `index` of stochastic gradient descent, and sets the gradient to 0.
void step(Memory& memory, const Settings& settings, std::size_t index);

// Trains on sequence `index` of a seed. Returns the loss before the step.
inline float learn(Memory& memory, const Settings& settings, std::uint64_t seed, std::size_t index) {
  const float loss = add_gradient(memory, draw(seed, Stream::training, index));
  step(memory, settings, index);
  return loss;
}

// Returns the model's answer to a sequence.
Sequence predict(Memory& memory, const Sequence& digits);

// Returns how many digits of the answer are right.
std::size_t count_right(Memory& memory, const Sequence& digits);

// Returns the attention weights for these digits. They share memory with the logits.
const Map& look(Memory& memory, const Sequence& digits);

}  // namespace learner
