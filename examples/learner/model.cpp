// SPDX-License-Identifier: MIT
#include "model.hpp"

#include "tinyattn/arithmetic.hpp"
#include "tinyattn/lifetime.hpp"

namespace learner {
namespace {

using namespace tinyattn;

constexpr Sequence positions = {0, 1, 2, 3, 4, 5, 6, 7};

Sequence reversed(const Sequence& digits) {
  Sequence result{};
  for (std::size_t i = 0; i < length; ++i) result(i) = digits(length - 1 - i);
  return result;
}

void embed(Memory& m, const Sequence& digits) {
  static_cast<void>(m.model.token.forward(digits, m.x));
  static_cast<void>(m.model.position.forward(positions, m.h));
  add(m.x, m.h, m.x);
}

void forward(Memory& m, const Sequence& digits) {
  embed(m, digits);
  m.model.attention.forward(m.x, m.h, begin_lifetime(m.forward));
  add(m.h, m.x, m.h);
  m.model.head.forward(m.h, begin_lifetime(m.logits));
}

// Takes the gradient of the logits in their place. That of h takes the place of h, that of x the place of x.
void backpropagate(Memory& m, const Sequence& digits) {
  backward(m.model.head, m.h, m.logits, m.h, m.gradient.head);
  backward(m.model.attention, m.x, m.h, m.x, m.gradient.attention, begin_lifetime(m.backward));
  add(m.x, m.h, m.x);
  static_cast<void>(backward(m.model.token, digits, m.x, m.gradient.token));
  static_cast<void>(backward(m.model.position, positions, m.x, m.gradient.position));
}

// Draws the weights of a part.
template <class Part>
void fill(Part& part, float range, Philox4x32& generator) {
  for_each_parameter(part, [&](const char*, auto& weights) {
    rand(generator, weights);
    for (float& weight : weights.elements) weight = range * (2.0f * weight - 1.0f);
  });
}

}  // namespace

Sequence draw(std::uint64_t seed, Stream stream, std::uint64_t index) {
  const Philox4x32 generator(seed, static_cast<std::uint64_t>(stream) << 32);
  Sequence digits{};
  for (std::size_t half = 0; half < 2; ++half) {
    const auto words = generator.block(2 * index + half);
    for (std::size_t i = 0; i < 4; ++i) digits(4 * half + i) = static_cast<Token>(std::uint64_t{words[i]} * vocabulary >> 32);
  }
  return digits;
}

void start(Memory& m, const Settings& settings, std::uint64_t seed) {
  Philox4x32 generator(seed, static_cast<std::uint64_t>(Stream::weights) << 32);
  fill(m.model.token, settings.range.token, generator);
  fill(m.model.position, settings.range.position, generator);
  fill(m.model.attention.query, settings.range.query_and_key, generator);
  fill(m.model.attention.key, settings.range.query_and_key, generator);
  fill(m.model.attention.value, settings.range.value, generator);
  fill(m.model.head, settings.range.head, generator);
  zero_grad(m.gradient);
}

float add_gradient(Memory& m, const Sequence& digits) {
  forward(m, digits);
  const float loss = cross_entropy(m.logits, reversed(digits), m.logits);
  backpropagate(m, digits);
  return loss;
}

void step(Memory& m, const Settings& settings, std::size_t index) {
  const float done = static_cast<float>(index) / static_cast<float>(steps), share = 1.0f - (1.0f - settings.last_share) * done;
  const auto sgd = [&](auto& part, auto& gradient, float rate) { sgd_step(part, gradient, {.learning_rate = share * rate}); };
  clip_grad_norm(m.gradient, settings.max_norm);
  sgd(m.model.token, m.gradient.token, settings.rate.embedding);
  sgd(m.model.position, m.gradient.position, settings.rate.embedding);
  sgd(m.model.attention, m.gradient.attention, settings.rate.attention);
  sgd(m.model.head, m.gradient.head, settings.rate.head);
  zero_grad(m.gradient);
}

Sequence predict(Memory& m, const Sequence& digits) {
  forward(m, digits);
  Sequence result{};
  for (std::size_t i = 0; i < length; ++i) result(i) = static_cast<Token>(argmax(row(m.logits, i)));
  return result;
}

std::size_t count_right(Memory& m, const Sequence& digits) {
  const Sequence result = predict(m, digits), expected = reversed(digits);
  std::size_t right = 0;
  for (std::size_t i = 0; i < length; ++i) right += result(i) == expected(i) ? 1 : 0;
  return right;
}

const Map& look(Memory& m, const Sequence& digits) {
  embed(m, digits);
  m.model.attention.forward_with_weights(m.x, m.h, begin_lifetime(m.map), begin_lifetime(m.forward));
  return m.map;
}

}  // namespace learner
