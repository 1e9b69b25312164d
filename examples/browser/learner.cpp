// SPDX-License-Identifier: MIT
//
// The functions that learner.html calls: they train the model of ../learner step by step. The page writes input digits and reads the
// model's answer in place.
#include <cstddef>

#include "../learner/model.hpp"
#include "../support/checksum.hpp"

namespace {

using namespace learner;

Memory memory;
std::size_t seed, done;
Sequence digits, answer;

unsigned checksum_of(const Model& model) {
  support::Checksum checksum;
  tinyattn::for_each_parameter(model, [&](const char*, const auto& weights) { checksum.add(weights.data(), weights.size()); });
  return checksum.value();
}

}  // namespace

extern "C" {

int learner_parameters() { return static_cast<int>(parameter_count); }
int learner_steps() { return static_cast<int>(steps); }

// Starts from the random weights of a seed.
void learner_start(unsigned new_seed) {
  seed = new_seed;
  done = 0;
  start(memory, best_settings, seed);
}

// Makes the next step. Returns the loss of its sequence.
float learner_learn() { return learn(memory, best_settings, seed, done++); }

// Returns the number of right digits in this many test sequences.
int learner_right(int sequences) {
  std::size_t right = 0;
  for (int i = 0; i < sequences; ++i) right += count_right(memory, draw(seed, Stream::test, static_cast<std::uint64_t>(i)));
  return static_cast<int>(right);
}

// The eight input digits, and the model's answer.
tinyattn::Token* learner_digits() { return digits.data(); }
const tinyattn::Token* learner_answer() {
  answer = predict(memory, digits);
  return answer.data();
}
// The attention weights: a row for each digit of the answer, a column for each input digit.
const float* learner_map() { return look(memory, digits).data(); }

// Returns the CRC-32 of the weights.
unsigned learner_weights() { return checksum_of(memory.model); }

// Returns the CRC-32 of the weights after all steps of seed 1, which every board prints. The model being trained is not changed.
unsigned learner_checksum() {
  static Memory other;
  start(other, best_settings, 1);
  for (std::size_t i = 0; i < steps; ++i) learn(other, best_settings, 1, i);
  return checksum_of(other.model);
}
}
