// SPDX-License-Identifier: MIT
//
// Drawn losses, dropouts and steps of optimizers.
#pragma once

#include "results.hpp"
#include "tinyattn/training/detail/replay.hpp"
#include "tinyattn/training/kernel/optimizer.hpp"

namespace tinyattn::test {

// Mean loss and gradient: separate from the logits, in their place, and in place with padded rows; and the losses of single rows. Some
// targets, or all, are ignored.
inline void losses(Call& call) {
  Random& random = call.random;
  const Size rows = random.size(8), vocabulary = random.size(), padded = kernel::room_of_scores<Port>(vocabulary);
  const Size rarity = random.one_of({1u, 3u, 1000u});
  const float factor = random.one_of({1.0f, 0.3f}), spread = random.one_of({1.0f, 8.0f, 60.0f});
  Rows logits = draw_input(call, rows, vocabulary, draw_gap(call), Numbers::special);
  for (Size i = 0; i < rows; ++i)
    for (Size j = 0; j < vocabulary; ++j) logits.from(i).first[j] *= spread;
  const plain::Input plain_logits = logits;
  const auto* const targets =
      call.elements<Token>(rows, [&] { return random.one_in(rarity) ? ignore_index : static_cast<Token>(random.below(vocabulary)); });
  const Result gradient = draw_result(call, rows, vocabulary, draw_gap(call)), means = draw_result(call, 1, 3);
  const Rows in_padded{call.output(rows * padded), rows, vocabulary, padded};
  draw_place(call, gradient, logits);
  plain::copy(plain_logits, in_padded);
  by_kernel(call, [&] {
    using Single = Port::one_lane;
    const std::uint32_t count = kernel::count_targets(targets, rows, vocabulary);
    const float share = kernel::share_of_target<Single>(count), of_gradient = Single::mul(factor, share);
    const auto mean_of = [&](auto loss) {
      float sum = 0.0f;
      for (Size i = 0; i < rows; ++i) sum = Single::add(sum, loss(i));
      return count == 0 ? quiet_nan : Single::mul(sum, share);
    };
    float* const to = means.of_kernel.first;
    to[0] = mean_of([&](Size i) { return kernel::cross_entropy_row<Port>(logits.from(i).first, vocabulary, targets[i]); });
    to[1] = mean_of([&](Size i) {
      return kernel::cross_entropy_row<Port>(logits.from(i).first, gradient.of_kernel.from(i).first, vocabulary, targets[i], of_gradient);
    });
    to[2] = mean_of([&](Size i) {
      return kernel::cross_entropy_row<Port, true>(in_padded.from(i).first, in_padded.from(i).first, vocabulary, targets[i], of_gradient);
    });
  });
  by_twin([&] {
    plain::copy(plain_logits, gradient.of_twin);
    std::fill_n(means.of_twin.first, 3, plain::cross_entropy(gradient.of_twin, targets, factor));
  });
  gives(call, gradient, means);
  for (Size i = 0; i < rows; ++i)  // the padding of a row is unspecified
    gives(call, Result{in_padded.row(i), gradient.of_twin.row(i)});
}

// Several calls of one generator, each of several rows; then the second again from any row on, as backward passes draw it.
template <class Generator>
void dropout_by(Call& call) {
  static constexpr DropoutRate rates[] = {0.0, 0.1, 0.25, 0.5, 0.9, 1.0};
  const Size rows = call.random.size(20), cols = call.random.size(), first = call.random.below(rows);
  const DropoutRate* its_rates[2];
  for (const DropoutRate*& rate : its_rates) rate = rates + call.random.below(std::size(rates));
  const Rows x = draw_input(call, rows, cols, 0, Numbers::special);
  const Result outs[] = {draw_result(call, rows, cols), draw_result(call, rows, cols)};
  const Result again = draw_result(call, rows - first, cols, draw_gap(call));
  const auto seed = static_cast<std::uint32_t>(call.random.below(1000));
  for (const Result& out : outs) plain::copy(x, out.of_kernel);
  by_kernel(call, [&] {
    Generator generator(seed);
    for (Size k = 0; k < 2; ++k) {
      if constexpr (std::is_same_v<Generator, Philox4x32>) {
        kernel::copy_rows<Port>(rows - first, cols, x.from(first), again.of_kernel);
        tinyattn::detail::drop_rows_again<Port>(first, rows - first, cols, again.of_kernel, *its_rates[k], generator);
      }
      auto stream = tinyattn::detail::random_stream(generator);
      for (Size i = 0; i < rows; ++i) kernel::drop<Port>(outs[k].of_kernel.from(i).first, cols, cols, *its_rates[k], stream);
    }
  });
  by_twin([&] {
    Generator generator(seed);
    const plain::Matrix factors(rows, cols);
    for (Size k = 0; k < 2; ++k) {
      plain::dropout_factors(*its_rates[k], generator, rows * cols, (*factors).first);
      plain::combine(x, factors, outs[k].of_twin, plain::drop);
    }
    if constexpr (std::is_same_v<Generator, Philox4x32>) plain::copy(plain::Input(outs[1].of_twin).rows_from(first), again.of_twin);
  });
  gives(call, outs[0], outs[1], again);
}
inline void dropouts(Call& call) { call.random.one_in(3) ? dropout_by<Mt19937>(call) : dropout_by<Philox4x32>(call); }

// --- Optimizers ---

namespace plain {

// Flushes magnitudes below 2^-100 to 0.
inline float cut(float x, float smallest = 0x1p-100f) noexcept { return x > -smallest && x < smallest ? 0.0f : x; }

inline void sgd(float rate, float decay, Input gradient, Output weight) noexcept {
  combine(weight, gradient, weight, [=](float w, float g) { return fma(-rate, decay == 0.0f ? cut(g) : fma(decay, w, cut(g)), w); });
}
inline void sgd_momentum(float rate, float momentum, float decay, Input gradient, Output velocity, Output weight) noexcept {
  for (Size j = 0; j < weight.cols; ++j) {
    velocity(0, j) = cut(fma(momentum, velocity(0, j), fma(decay, weight(0, j), cut(gradient(0, j)))));
    weight(0, j) = fma(-rate, velocity(0, j), weight(0, j));
  }
}

// AdamW's settings; betas are decimal. The corrections 1 - beta^t follow from the step before.
struct AdamW {
  float rate;
  double beta1, beta2;
  float epsilon, decay;

  static void correct(float& correction, double beta) noexcept {
    const float rounded = static_cast<float>(beta), rest = static_cast<float>(1 - beta);
    correction = fma(rounded, correction, fma((1.0f - rounded) - rest, correction, rest));
  }
  void step(float& correction1, float& correction2, Input gradient, Output mean, Output square, Output weight) const noexcept {
    correct(correction1, beta1), correct(correction2, beta2);
    const float step = rate / correction1, share = 1.0f / sqrt(correction2);
    const auto go_on = [](float moment, double beta) { return product(moment, static_cast<float>(beta)); };
    for (Size j = 0; j < weight.cols; ++j) {
      const float d = cut(gradient(0, j)), rest = static_cast<float>(1 - beta1), rest_of_square = static_cast<float>(1 - beta2);
      mean(0, j) = cut(fma(static_cast<float>(beta1), mean(0, j), product(d, rest)));
      square(0, j) = cut(fma(rest_of_square, cut(product(d, d)), go_on(square(0, j), beta2)));
      const float size = fma(share, sqrt(square(0, j)), epsilon);
      weight(0, j) = fma(-step, mean(0, j) / size, go_on(weight(0, j), static_cast<double>(fma(-rate, decay, 1.0f))));
    }
  }
};

}  // namespace plain

// Three steps of each optimizer from moments of any size, by gradients of very different sizes, some flushed to 0; then what clipping does
// to the last gradient.
inline void optimizer_steps(Call& call) {
  Random& random = call.random;
  constexpr Size steps = 3;
  const Size count = random.size(70);
  Rows gradients = draw_input(call, steps, count, 0, Numbers::special);
  for (Size j = 0; j < steps * count; ++j)
    gradients.first[j] *= random.one_of({1.0f, 1.0f, 0x1p-20f, 0x1p-44f, 0x1p-52f, 0x1p-90f, 0x1p-110f});
  const float rate = random.one_of({1e-3f, 0.5f}), momentum = random.one_of({0.0f, 0.5f, 0.9f}), decay = random.one_of({0.0f, 0.01f});
  const double beta1 = random.one_of({0.9, 0.5, 0.0}), beta2 = random.one_of({0.999, 0.99, 0.95});
  const float epsilon = random.one_of({1e-8f, 1e-3f});
  // The next step flushes a moment of 2^-100 to 0, unless the gradient is larger.
  const auto draw_moment = [&] { return random.one_in(4) ? -0x1p-100f : draw_number(random); };
  const auto draw_square = [&] {
    const float root = draw_number(random);
    return random.one_in(4) ? 0x1p-100f : root * root;
  };
  const float correction = random.one_of({0.0f, 0.25f, 0.9f});
  const Result by_sgd = draw_result(call, 1, count), by_momentum = draw_result(call, 1, count), by_adamw = draw_result(call, 1, count);
  const Result velocity = draw_result(call, 1, count, 0, draw_moment), mean = draw_result(call, 1, count, 0, draw_moment);
  const Result square = draw_result(call, 1, count, 0, draw_square), corrections = draw_result(call, 1, 2, 0, [=] { return correction; });
  const Result clipped = draw_result(call, 1, count), squares = draw_result(call, 1, 1), zeros = draw_result(call, 1, count);
  by_kernel(call, [&] {
    const kernel::SgdFactors factors{rate, momentum, decay};
    for (Size i = 0; i < steps; ++i) {
      const float* const gradient = gradients.from(i).first;
      kernel::sgd<Port>(factors, count, by_sgd.of_kernel.first, gradient);
      kernel::sgd_momentum<Port>(factors, count, by_momentum.of_kernel.first, gradient, velocity.of_kernel.first);
      const kernel::AdamWFactors by = kernel::adamw_factors<Port>(rate, static_cast<float>(beta1), static_cast<float>(beta2), epsilon,
                                                                  decay, corrections.of_kernel.first[0], corrections.of_kernel.first[1]);
      kernel::adamw<Port>(by, count, by_adamw.of_kernel.first, gradient, mean.of_kernel.first, square.of_kernel.first);
    }
    squares.of_kernel.first[0] = kernel::sum_of_squares_of_gradient<Port>(gradients.first, count);
    kernel::scale_row<Port>(gradients.first, momentum, clipped.of_kernel.first, count);
    kernel::zero_row<Port>(zeros.of_kernel.first, count);
  });
  by_twin([&] {
    const plain::AdamW adamw{rate, beta1, beta2, epsilon, decay};
    for (Size i = 0; i < steps; ++i) {
      plain::sgd(rate, decay, gradients.from(i), by_sgd.of_twin);
      plain::sgd_momentum(rate, momentum, decay, gradients.from(i), velocity.of_twin, by_momentum.of_twin);
      adamw.step(corrections.of_twin.first[0], corrections.of_twin.first[1], gradients.from(i), mean.of_twin, square.of_twin,
                 by_adamw.of_twin);
    }
    squares.of_twin.first[0] = plain::sum_of_squares(count, [&](Size j) { return plain::cut(gradients.first[j], 0x1p-50f); });
    plain::for_each(plain::Input(gradients).first_rows(1), clipped.of_twin, [&](float g) { return plain::product(g, momentum); });
    plain::clear(zeros.of_twin);
  });
  gives(call, by_sgd, by_momentum, velocity, by_adamw, mean, square, corrections, clipped, squares, zeros);
}

}  // namespace tinyattn::test
