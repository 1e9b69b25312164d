// SPDX-License-Identifier: MIT
//
// Drawn calls of the functions of tinyattn_operations.h: arrays in any order of axes, with gaps, backwards, repeated.
#pragma once

#include "call.hpp"
#include "tinyattn/tinyattn_operations.h"

namespace tinyattn::test {

// An array of a walk: how many floats it spans, and where the element whose indices are all 0 is.
struct Place {
  Size span = 1, first = 0;
};

struct DrawnWalk {
  tinyattn_walk walk{};
  Size elements = 1;

  explicit DrawnWalk(Random& random) {
    walk.axes = 1 + random.below(3);
    for (Size axis = 0; axis < walk.axes; ++axis)
      elements *= walk.extents[axis] = random.one_in(2) && elements <= 4 ? random.size() : 1 + random.below(3);
  }

  // Draws the strides of an array, which are 0 along some axes.
  Place place(Random& random, Size array, auto repeats) {
    Place place;
    Size step = random.one_in(3) ? 2 : 1;
    const bool from_front = random.one_in(3);
    for (Size i = 0; i < walk.axes; ++i) {
      const Size axis = from_front ? i : walk.axes - 1 - i, length = (walk.extents[axis] - 1) * step;
      const bool is_backwards = random.one_in(6), is_repeated = repeats(axis);
      walk.strides[array][axis] = is_repeated ? 0 : static_cast<std::ptrdiff_t>(is_backwards ? 0 - step : step);
      if (is_repeated) continue;
      place.span += length;
      if (is_backwards) place.first += length;
      step *= walk.extents[axis];
    }
    return place;
  }
  // Where an element of an array is, counted from the first, in row-major order of all elements.
  std::ptrdiff_t at(Size array, Size element) const {
    std::ptrdiff_t offset = 0;
    for (Size axis = walk.axes; axis-- > 0; element /= walk.extents[axis])
      offset += static_cast<std::ptrdiff_t>(element % walk.extents[axis]) * walk.strides[array][axis];
    return offset;
  }
  // Takes an output, of which element i is computed as compute(i), and what lies between elements is as it was.
  void gives(Call& call, const float* array, Place place, auto compute) const {
    call.gives(array, 1, place.span, [&](plain::Output to) {
      std::fill_n(to.first, place.span, 42.0f);
      for (Size i = 0; i < elements; ++i) (to.first + place.first)[at(0, i)] = compute(i);
    });
  }
};

// The first of equal ones; a NaN wins.
inline float larger(float a, float b) { return a < b || b != b ? b : a; }

inline void elementwise(Call& call) {
  static constexpr const tinyattn_function* functions[] = {&tinyattn_function_exp, &tinyattn_function_divide, &tinyattn_function_maximum,
                                                           &tinyattn_function_fma, &tinyattn_function_select};
  Random& random = call.random;
  DrawnWalk drawn(random);
  const Place place = drawn.place(random, 0, [](Size) { return false; });
  const float* operands[3];
  for (Size o = 0; o < 3; ++o) {
    const Place from = drawn.place(random, o + 1, [&](Size) { return random.one_in(3); });
    operands[o] = call.input(from.span, Numbers::special) + from.first;
  }
  float *const out = call.output(place.span), *const copied = call.output(place.span), *const both = copied + place.first;
  const Size which = random.below(std::size(functions));
  const auto compute = [&](const float* a, float* to) {
    return tinyattn_elementwise(functions[which], &drawn.walk, a, operands[1], operands[2], to);
  };
  call.makes([&] { return compute(operands[0], out + place.first); });
  drawn.gives(call, out, place, [&](Size i) {
    const auto operand = [&](Size o) { return operands[o][drawn.at(o + 1, i)]; };
    const float a = operand(0), b = operand(1), c = operand(2);
    if (which == 0) return exp(a);
    if (which == 1) return a / b;
    if (which == 2) return larger(a, b);
    return which == 3 ? fma(a, b, c) : a != 0.0f ? b : c;
  });
  call.makes([&] { return tinyattn_copy(&drawn.walk, operands[0], both); });
  drawn.gives(call, copied, place, [&](Size i) { return operands[0][drawn.at(1, i)]; });
  std::copy_n(drawn.walk.strides[0], TINYATTN_MAX_AXES, drawn.walk.strides[1]);
  call.makes([&] { return compute(both, both); });
  for (Size i = 0; i < place.span; ++i) call.check(copied[i] == out[i] || out[i] != out[i], "an output in place has other bits");
}

inline void reduce(Call& call) {
  static constexpr const tinyattn_reduction* reductions[] = {&tinyattn_reduction_sum, &tinyattn_reduction_largest,
                                                             &tinyattn_reduction_variance_1};
  Random& random = call.random;
  DrawnWalk drawn(random);
  bool is_reduced[TINYATTN_MAX_AXES];
  for (bool& each : is_reduced) each = random.one_in(2);
  const Place place = drawn.place(random, 0, [&](Size axis) { return is_reduced[axis]; });
  const Place from = drawn.place(random, 1, [&](Size) { return random.one_in(8); });
  const tinyattn_walk& walk = drawn.walk;
  const float* const x = call.input(from.span, Numbers::special) + from.first;
  float* const out = call.output(place.span);
  auto* const indices = call.output<std::uint16_t>((place.span + 1) / 2 * 2);  // whole words
  const Size which = random.below(std::size(reductions));
  call.makes([&] { return tinyattn_reduce(reductions[which], &walk, x, out + place.first); });
  call.makes([&] { return tinyattn_reduce_to_index(&tinyattn_reduction_argmax, &walk, x, indices + place.first); });
  for (Size i = 0; i < place.span; ++i) call.takes(std::array{static_cast<float>(indices[i])}.data(), 1);
  drawn.gives(call, out, place, [&](Size i) {
    const plain::Matrix elements(1, drawn.elements);
    float* const of = (*elements).first;
    Size count = 0, best = 0;
    for (Size j = 0; j < drawn.elements; ++j)
      if (drawn.at(0, i) == drawn.at(0, j)) of[count++] = x[drawn.at(1, j)];
    for (Size j = 1; j < count; ++j)
      if (of[best] == of[best] && (of[j] != of[j] || of[j] > of[best])) best = j;
    call.check(indices[static_cast<std::ptrdiff_t>(place.first) + drawn.at(0, i)] == best, "plain loops find another index");
    const Size lanes = is_reduced[walk.axes - 1] ? 16 : 1;
    const auto fold = [&](float start, auto step, auto merge) {
      float folded[16];
      std::fill_n(folded, 16, start);
      for (Size j = 0; j < count; ++j) folded[j % lanes] = step(folded[j % lanes], of[j]);
      for (Size half = lanes / 2; half > 0; half /= 2)
        for (Size q = 0; q < half && q + half < count; ++q) folded[q] = merge(folded[q], folded[q + half]);
      return folded[0];
    };
    const auto add = [](float a, float b) { return a + b; };
    if (which == 1) return fold(-infinity, larger, larger);
    const float sum = fold(0.0f, add, add), mean = plain::product(sum, 1.0f / static_cast<float>(count));
    if (which == 0) return sum;
    const auto add_square = [=](float squares, float a) { return fma(a - mean, a - mean, squares); };
    return plain::product(fold(0.0f, add_square, add), count > 1 ? 1.0f / static_cast<float>(count - 1) : infinity);
  });
}

}  // namespace tinyattn::test
