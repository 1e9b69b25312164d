// SPDX-License-Identifier: MIT
//
// Cross-entropy: its cases.
#pragma once

#include "gradients.hpp"
#include "tinyattn/cross_entropy.hpp"

#include <cstddef>

namespace tinyattn::test {

// Targets of rows, in no order; some do not count.
template <std::size_t Rows>
inline constexpr auto some_targets = [](std::size_t vocabulary) {
  Vector<Token, Rows> targets{};
  for (std::size_t i = 0; i < Rows; ++i) targets(i) = i % 4 == 2 ? ignore_index : static_cast<Token>((i * 7 + vocabulary - 1) % vocabulary);
  return targets;
};

// The mean, computed with a gradient and without one; the gradient, apart from the logits and in their place.
template <std::size_t Rows, std::size_t Vocabulary>
struct CrossEntropy {
  using Logits = Matrix<float, Rows, Vocabulary>;
  Logits logits;
  Guarded<Logits> gradient;

  constexpr void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    draw(logits);
    for (float& element : logits.elements) element *= 8.0f;
    const auto targets = some_targets<Rows>(Vocabulary);
    constexpr float factor = 0.3f;
    if constexpr (std::is_same_v<decltype(by), Library>) {
      const float alone = cross_entropy(logits, targets), mean = cross_entropy(logits, targets, gradient.tensor, factor);
      outputs.take("mean", vector({alone, mean, cross_entropy(logits, targets, logits, factor)}));
    } else {
      gradient.tensor = logits;
      const float mean = plain::cross_entropy(plain::view(gradient.tensor), targets.data(), factor);
      outputs.take("mean", vector({mean, mean, mean}));
      logits = gradient.tensor;
    }
    outputs.take("gradient", gradient);
    outputs.take("gradient in place", logits);
  }
};

// As an operation with a backward pass: the gradient of the mean is the factor.
template <std::size_t Rows, std::size_t Vocabulary>
struct CrossEntropyGradient {
  using Module = None<0>;
  using Input = Matrix<float, Rows, Vocabulary>;
  using Output = Vector<float, 1>;

  static constexpr void forward(const Module&, const Input& logits, Output& out) noexcept {
    out(0) = cross_entropy(logits, some_targets<Rows>(Vocabulary));
  }
  static constexpr void backward(auto, const Module&, const Input& logits, const Output& d_out, auto& d_logits, auto&) noexcept {
    static_cast<void>(cross_entropy(logits, some_targets<Rows>(Vocabulary), d_logits, d_out(0)));
  }
};

}  // namespace tinyattn::test
