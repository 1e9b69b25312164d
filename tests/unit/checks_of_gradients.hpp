// SPDX-License-Identifier: MIT
//
// Checks of operations with a backward pass: as in plain loops, as finite differences, and what holds for each module.
#pragma once

#include "catalogue/gradients.hpp"
#include "catalogue/twin.hpp"

namespace tinyattn::test {

// --- As in plain loops ---

template <class... Operations>
constexpr void as_in_loops(Check& check) {
  as_in_plain_loops<Gradients<Operations>...>(check);
}

// --- Finite differences ---

constexpr double magnitude(float x) { return static_cast<double>(x < 0.0f ? -x : x); }

// Checks gradients against the difference of two forward passes, in which one number is a little more and a little less: to 1 % of the
// largest gradient.
template <class Operation>
struct FiniteDifferences {
  typename Operation::Module module{}, gradient{};
  typename Operation::Input x{}, d_x{};
  typename Operation::Output d_out{}, out{};

  // The sum of d_out * out, of which a backward pass computes the gradient.
  double value() {
    Operation::forward(module, x, out);
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) sum += static_cast<double>(out.data()[i]) * static_cast<double>(d_out.data()[i]);
    return sum;
  }

  double difference(float& number) {
    constexpr float step = 0x1p-9f;
    const float kept = number;
    number = kept + step;
    const double above = value();
    number = kept - step;
    const double below = value();
    number = kept;
    return (above - below) / (2 * static_cast<double>(step));
  }

  // Of numbers and their gradients, which are modules or tensors of one type.
  template <class Numbers>
  void check_all(Check& check, Numbers& numbers, Numbers& gradients) {
    double largest = 0;
    for_each_parameter(gradients, [&](const char*, const auto& tensor) {
      for (const float element : tensor.elements) largest = magnitude(element) > largest ? magnitude(element) : largest;
    });
    const auto offset = reinterpret_cast<const char*>(&gradients) - reinterpret_cast<const char*>(&numbers);
    for_each_parameter(numbers, [&](const char*, auto& tensor) {
      for (float& number : tensor.elements) {
        const float& its = *reinterpret_cast<const float*>(reinterpret_cast<const char*>(&number) + offset);
        const double error = difference(number) - static_cast<double>(its);
        check.that(-0.01 * largest < error && error < 0.01 * largest);
      }
    });
  }

  void operator()(Check& check) {
    Draw draw;
    draw(module, x, d_out);
    Operation::backward(Library{}, module, x, d_out, d_x, gradient);
    check_all(check, x, d_x);
    check_all(check, module, gradient);
  }
};

template <class... Operations>
void as_differences(Check& check) {
  (FiniteDifferences<Operations>{}(check), ...);
}

// --- What holds for each ---

// Checks that a gradient which is not wanted changes no other; that the gradients of a batch are those of its elements, one after the
// other; that d_x may be x, and, if it may, d_out.
template <class Module, class X, class Out = X, bool may_be_d_out = std::is_same_v<X, Out>>
constexpr void check_module(Check& check) {
  using Batch = Tensor<float, 2, X::extent(0), X::extent(1)>;
  using BatchOut = Tensor<float, 2, Out::extent(0), Out::extent(1)>;
  const auto module = drawn<Module>(1), before = drawn<Module>(2);
  const auto x = drawn<X>(3), more_x = drawn<X>(4);
  const auto d_out = drawn<Out>(5), more_d_out = drawn<Out>(6);
  const auto call = [&](const auto& from, const auto& d, auto& d_x, auto& gradient) {
    backward_of(Library{}, module, opaque(from), opaque(d), d_x, gradient);
  };
  Module gradient = before, alone = before, together = before;
  X d_x, d_alone, more_d_x;
  call(x, d_out, d_x, gradient);
  call(x, d_out, no_gradient, alone);
  check.that(alone == gradient);
  call(x, d_out, d_alone, no_gradient);
  check.same_bits(d_alone, d_x);
  call(more_x, more_d_out, more_d_x, gradient);
  Batch d_batch;
  const Batch batch = stack(x, more_x);
  const BatchOut d_batch_out = stack(d_out, more_d_out);
  call(batch, d_batch_out, d_batch, together);
  check.that(together == gradient);
  check.same_bits(d_batch, stack(d_x, more_d_x));
  auto both = x;
  gradient = before;
  backward_of(Library{}, module, both, d_out, both, gradient);
  check.same_bits(both, d_x);
  check.that(gradient == alone);
  if constexpr (may_be_d_out) {
    both = d_out;
    gradient = before;
    backward_of(Library{}, module, x, both, both, gradient);
    check.same_bits(both, d_x);
    check.that(gradient == alone);
  }
}

}  // namespace tinyattn::test
