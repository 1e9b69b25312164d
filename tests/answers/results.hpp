// SPDX-License-Identifier: MIT
//
// What a call of a kernel reads and writes: rows that may lie apart; results of kernel and twin, which begin with drawn numbers.
#pragma once

#include "call.hpp"
#include "plain_backward.hpp"
#include "tinyattn/training/kernel/normalization.hpp"

namespace tinyattn::test {

using Port = native_port;

// Rows of floats. Without a first element, the gradient is not wanted.
struct Rows {
  float* first = nullptr;
  Size count = 0, cols = 0, stride = 0;

  operator kernel::Output() const { return {first, stride}; }
  operator kernel::Dense() const { return {first, stride}; }
  operator plain::Output() const { return {first, count, cols, stride}; }
  operator plain::Input() const { return {first, count, cols, stride}; }
  Rows from(Size i) const { return {first + i * stride, count - i, cols, stride}; }
  Rows row(Size i) const { return {first + i * stride, 1, cols, cols}; }
};

// The number of unused elements between rows.
inline Size draw_gap(Call& call) { return call.random.one_in(3) ? 1 + call.random.below(20) : 0; }

// An input; the gaps between its rows hold NaN.
inline Rows draw_input(Call& call, Size count, Size cols, Size gap = 0, Numbers which = Numbers::small) {
  const Rows rows{call.input(count * (cols + gap), which), count, cols, cols + gap};
  for (Size i = 0; i < count; ++i) std::fill_n(rows.first + i * rows.stride + cols, gap, quiet_nan);
  return rows;
}

// Uniform from -1 to 1.
inline float draw_number(Random& random) { return static_cast<float>(random.below(0x1000000)) * 0x1p-23f - 1.0f; }

// What a call writes or adds to: drawn numbers, once for the kernel and once for its twin.
struct Result {
  Rows of_kernel, of_twin;
};
inline Result draw_result(Call& call, Size count, Size cols, Size gap, auto draw) {
  const Size stride = cols + gap, size = count * stride;
  Result result{{call.output(size), count, cols, stride}, {}};
  for (Size i = 0; i < size; ++i) result.of_kernel.first[i] = draw();
  result.of_twin = {has_twin ? call.output(size) : nullptr, count, cols, stride};
  if (has_twin) std::copy_n(result.of_kernel.first, size, result.of_twin.first);
  return result;
}
inline Result draw_result(Call& call, Size count, Size cols, Size gap = 0) {
  return draw_result(call, count, cols, gap, [&] { return draw_number(call.random); });
}
// A result that the kernel may not be asked for.
inline Result draw_wanted(Call& call, Size count, Size cols, Size gap = 0) {
  Result result = draw_result(call, count, cols, gap);
  if (call.random.one_in(5)) result.of_kernel = {};
  return result;
}
// May put a result in the place of an input: the result then begins with the input's numbers, and the kernel reads them there.
inline void draw_place(Call& call, const Result& result, Rows& a, Rows* b = nullptr) {
  const Size place = call.random.below(3);
  Rows* const input = place == 0 ? &a : place == 1 ? b : nullptr;
  if (input == nullptr || result.of_kernel.first == nullptr) return;
  plain::copy(*input, result.of_kernel);
  *input = result.of_kernel;
}

struct Gradient {
  Result weight, bias;

  plain::Gradient of_twin() const { return {weight.of_twin, bias.of_twin}; }
  operator kernel::ProjectionGradient() const { return {weight.of_kernel.first, bias.of_kernel.first}; }
  operator kernel::NormGradient() const { return {weight.of_kernel.first, bias.of_kernel.first}; }
};
inline Gradient draw_gradients(Call& call, Size inputs, Size outputs, bool has_bias = true) {
  const Result weight = draw_wanted(call, inputs, outputs);
  return {weight, has_bias ? draw_wanted(call, 1, outputs) : Result{}};
}

inline void by_kernel(Call& call, auto compute) {
  call.makes([&] {
    compute();
    return TINYATTN_OK;
  });
}
// Boards have none.
inline void by_twin(auto compute) {
  if constexpr (has_twin) compute();
}
// Hands over a result, gaps included.
inline void gives(Call& call, const Result& result) {
  const Rows& rows = result.of_kernel;
  if (rows.first == nullptr) return;
  call.gives(rows.first, rows.count, rows.stride,
             [&](plain::Output to) { std::copy_n(result.of_twin.first, to.rows * to.cols, to.first); });
}
inline void gives(Call& call, const Gradient& gradients) {
  gives(call, gradients.weight);
  gives(call, gradients.bias);
}
inline void gives(Call& call, const auto&... results) requires(sizeof...(results) > 1) { (gives(call, results), ...); }

}  // namespace tinyattn::test
