// SPDX-License-Identifier: MIT
//
// The cross-entropy of rows of logits, and its gradient.
#pragma once

#include "tinyattn/kernel/softmax.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/training/kernel/row.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The target of a row that does not count.
inline constexpr std::uint16_t no_target = 0xffff;

// The number of targets that count, or that they are wrong.
inline constexpr std::uint32_t wrong_targets = 0xffffffffu;
constexpr std::uint32_t count_targets(const std::uint16_t* targets, std::size_t rows,
                                      std::size_t vocabulary) noexcept {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    if (targets[i] == no_target) continue;
    if (targets[i] >= vocabulary) return wrong_targets;
    ++count;
  }
  return count;
}

// What each of `count` targets takes part with in a mean: 1 / count, rounded once. Without a target
// it is of no use.
template <class Single>
constexpr float share_of_target(std::uint32_t count) noexcept {
  return Single::divide(1.0f, static_cast<float>(count | (count == 0 ? 1u : 0u)));
}

// The largest element of a row; if there is a NaN, any element.
template <class Port>
TINYATTN_KERNEL float largest_in_row(const float* row, std::size_t count) noexcept {
  auto largest = Port::splat(least);
  for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    largest = Port::maximum(largest, at.load(row, -infinity));
  });
  return largest_of<Port>(largest);
}

// -log(softmax(z)[target]) = (m - z[target]) - log(w): m is the largest logit, and w its weight,
// which is 1 / sum of e^(z[j] - m), since its own exponential is 1.
template <class Single>
TINYATTN_KERNEL float loss_of_target(float largest, float logit, float weight) noexcept {
  return Single::add(Single::add(largest, -logit), -port::elementwise::log<Single>(weight));
}

// Returns the loss of a row, and writes its gradient share * (softmax(z) - one_hot(target)), which
// may be the logits z. `target` is below `count`; or no_target: the loss is 0, the gradient zeros.
// Rows that are padded are one, of room_of_scores(count) floats: then the softmax is that of
// attention, which is in flash already.
template <class Port, bool IsPadded = false>
constexpr float cross_entropy_row(const float* logits, float* gradient, std::size_t count,
                                  std::size_t target, float share) noexcept {
  using Single = typename Port::one_lane;
  if (target == no_target) {
    for (std::size_t j = 0; j < count; ++j) gradient[j] = 0.0f;
    return 0.0f;
  }
  const float largest = largest_in_row<Port>(logits, count), logit = logits[target];
  if constexpr (IsPadded)
    softmax_of_scores<Port>(
        1, {gradient, count}, [=](std::size_t) TINYATTN_INLINE_LAMBDA { return count; }, 1.0f);
  else  // on one lane rows are always whole: attention uses the same function
    softmax_of_row<Port, Port::lanes == 1>(logits, gradient, count, 1.0f);
  const float loss = loss_of_target<Single>(largest, logit, largest_in_row<Port>(gradient, count));
  gradient[target] = Single::add(gradient[target], -1.0f);
  scale_row<Port>(gradient, share, gradient, count);
  return loss;
}

// Returns the sum of e^(row[j] - largest), with the bits of that of a softmax.
template <class Port>
TINYATTN_KERNEL float sum_of_exponentials(const float* row, std::size_t count,
                                          float largest) noexcept {
  const auto shift = Port::broadcast(-largest), scale = Port::broadcast(1.0f);
  if constexpr (Port::lanes == 1) {
    return sum_lane_by_lane<Port>(count, [&](std::size_t j, float sum) TINYATTN_INLINE_LAMBDA {
      return Port::add(sum, exponential<Port>(row[j], shift, scale));
    });
  } else {
    float sums[1];
    sum_rows<Port, 1, false>(
        count,
        [&](auto at, std::size_t) TINYATTN_INLINE_LAMBDA {
          return exponential<Port>(at.load(row, -infinity), shift, scale);
        },
        sums);
    return sums[0];
  }
}

// Returns the loss of a row alone, to the same bits.
template <class Port>
constexpr float cross_entropy_row(const float* logits, std::size_t count,
                                  std::size_t target) noexcept {
  using Single = typename Port::one_lane;
  if (target == no_target) return 0.0f;
  const float largest = largest_in_row<Port>(logits, count),
              sum = sum_of_exponentials<Port>(logits, count, largest);
  return loss_of_target<Single>(largest, logits[target],
                                sum == 0.0f ? 0.0f : Single::divide(1.0f, sum));
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
