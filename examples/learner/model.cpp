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

void attend(Memory& m, auto&... map) {
  m.model.query.forward(m.x, m.query);
  m.model.key.forward(m.x, m.key);
  m.model.value.forward(m.x, m.value);
  scaled_dot_product_attention(m.query, m.key, m.value, NoMask{}, m.h, map...);
}

void forward(Memory& m, const Sequence& digits) {
  embed(m, digits);
  attend(m);
  add(m.h, m.x, m.h);
  m.model.head.forward(m.h, begin_lifetime(m.logits));
}

// Backward pass of a projection: accumulates its weight's gradient, and adds its input's gradient to `sum`.
void add_backward(const auto& projection, const Features& x, const Features& output_gradient, Features& sum, auto& gradient,
                  Features& input_gradient) {
  backward(projection, x, output_gradient, input_gradient, gradient);
  add(sum, input_gradient, sum);
}

// The logits hold their gradient. h is replaced by its gradient, which then becomes the gradient of x.
void backpropagate(Memory& m, const Sequence& digits) {
  backward(m.model.head, m.h, m.logits, m.h, m.gradient.head);
  scaled_dot_product_attention_backward(m.query, m.key, m.value, NoMask{}, m.h, m.query, m.key_gradient, m.value_gradient);
  Features& scratch = m.value;
  add_backward(m.model.query, m.x, m.query, m.h, m.gradient.query, scratch);
  add_backward(m.model.key, m.x, m.key_gradient, m.h, m.gradient.key, scratch);
  add_backward(m.model.value, m.x, m.value_gradient, m.h, m.gradient.value, scratch);
  static_cast<void>(backward(m.model.token, digits, m.h, m.gradient.token));
  static_cast<void>(backward(m.model.position, positions, m.h, m.gradient.position));
}

// Draws the weights of a part. Doubling is exact, so it does not matter whether a compiler fuses it with the subtraction.
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
  fill(m.model.query, settings.range.query_and_key, generator);
  fill(m.model.key, settings.range.query_and_key, generator);
  fill(m.model.value, settings.range.value, generator);
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
  const float share = static_cast<float>(2 * steps - index) / static_cast<float>(2 * steps);
  const auto sgd = [&](auto& part, auto& gradient, float rate) { sgd_step(part, gradient, {.learning_rate = share * rate}); };
  clip_grad_norm(m.gradient, settings.max_norm);
  sgd(m.model.token, m.gradient.token, settings.rate.embedding);
  sgd(m.model.position, m.gradient.position, settings.rate.embedding);
  sgd(m.model.query, m.gradient.query, settings.rate.attention);
  sgd(m.model.key, m.gradient.key, settings.rate.attention);
  sgd(m.model.value, m.gradient.value, settings.rate.attention);
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
  attend(m, begin_lifetime(m.map));
  return m.map;
}

}  // namespace learner
