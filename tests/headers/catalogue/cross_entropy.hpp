// SPDX-License-Identifier: MIT
//
// Cross-entropy as an operation with a backward pass.
#pragma once

#include "gradients.hpp"
#include "tinyattn/training/cross_entropy.hpp"

#include <cstddef>

namespace tinyattn::test {

// Targets of rows, in no particular order; some are ignored.
template <std::size_t Rows>
inline constexpr auto some_targets = [](std::size_t vocabulary) {
  Vector<Token, Rows> targets{};
  for (std::size_t i = 0; i < Rows; ++i) targets(i) = i % 4 == 2 ? ignore_index : static_cast<Token>((i * 7 + vocabulary - 1) % vocabulary);
  return targets;
};

// The output is the mean loss; d_out is the factor of its gradient.
template <std::size_t Rows, std::size_t Vocabulary>
struct CrossEntropyGradient {
  using Module = None<0>;
  using Input = Matrix<float, Rows, Vocabulary>;
  using Output = Vector<float, 1>;

  static constexpr void backward(const Module&, const Input& logits, const Output& d_out, auto& d_logits, auto&) noexcept {
    static_cast<void>(cross_entropy(logits, some_targets<Rows>(Vocabulary), d_logits, d_out(0)));
  }
};

}  // namespace tinyattn::test
