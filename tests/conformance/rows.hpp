// SPDX-License-Identifier: MIT
//
// Compares the kernels of rows on a port (softmax, normalize, norms, exp, activations), and of columns, which take several rows at a time
// or short rows, with the scalar port, which takes row after row.
#pragma once

#include "same_bits.hpp"
#include "tinyattn/kernel/activation.hpp"
#include "tinyattn/kernel/normalization.hpp"
#include "tinyattn/kernel/pooling.hpp"
#include "tinyattn/kernel/softmax.hpp"

#include <array>
#include <cstddef>

namespace tinyattn::test {

inline constexpr std::size_t longest_row = 67;
inline constexpr std::size_t row_count = 11;
inline constexpr std::size_t row_stride = 83;  // room for whole vectors
inline constexpr float row_scale = 40.0f;

inline std::array<float, row_count * row_stride> scores;

// Row i has ends(i) elements. step(port, from, to, count) computes one row; the function that is returned computes all.
inline auto each_row(auto ends, auto step) {
  return [=](auto port, float* out) {
    for (std::size_t i = 0; i < row_count; ++i) step(port, scores.data() + i * row_stride, out + i * row_stride, ends(i));
  };
}
// Compares `compute`, or by default the same step for each row on `Port`, with a step for each row on the reference.
template <class Port>
void check_each_row(Check& check, auto ends, auto step, auto compute) {
  check_same_bits<Port>(check, scores.size(), each_row(ends, step), compute);
}
template <class Port>
void check_each_row(Check& check, auto ends, auto step) {
  check_each_row<Port>(check, ends, step, each_row(ends, step));
}

inline constexpr auto softmax_row = [](auto port, auto from, auto to, std::size_t count) {
  kernel::softmax<decltype(port), false>(
      1, {from, 0}, {to, 0}, [=](std::size_t) { return count; }, row_scale);
};
inline constexpr auto normalize_row = [](auto port, auto from, auto to, std::size_t count) {
  kernel::normalize_rows<decltype(port)>({from, 0}, {to, 0}, count);
};
// A row to which a function of vectors is applied.
template <auto function>
inline constexpr auto row_of = [](auto port, auto from, auto to, std::size_t count) {
  kernel::transform_row<decltype(port)>(from, to, count, [=](auto x) { return function(port, x); });
};
inline constexpr auto exp_row = row_of<[](auto port, auto x) { return kernel::exp<decltype(port)>(x); }>;
inline constexpr auto tanh_row = row_of<[](auto port, auto x) { return kernel::tanh<decltype(port)>(x); }>;
inline constexpr auto erf_row = row_of<[](auto port, auto x) { return kernel::erf<decltype(port)>(x); }>;

// Checks activations chosen at run time, as in libtinyattn, and one that the compiler knows.
template <class Port>
void check_activations(Check& check, auto ends) {
  check_each_row<Port>(check, ends, tanh_row);
  check_each_row<Port>(check, ends, erf_row);
  for (unsigned activation = 0; activation < kernel::num_activations; ++activation)
    check_each_row<Port>(check, ends, [=](auto port, auto from, auto to, std::size_t count) {
      kernel::activate_row<decltype(port)>(static_cast<Activation>(opaque(activation)), from, to, count);
    });
  check_each_row<Port>(check, ends, [](auto port, auto from, auto to, std::size_t count) {
    kernel::activate_row<decltype(port)>(Activation::gelu, from, to, count);
  });
}

// Checks norms of finite rows, with and without a bias.
template <class Port>
void check_norms(Check& check, std::size_t dim) {
  for (const float* const bias : {source(2), static_cast<const float*>(nullptr)}) {
    const auto compute = [&](auto port, float* out) {
      kernel::normalize_features<decltype(port)>({dim, source(1), bias, 1e-5f}, row_count, {scores.data(), row_stride}, {out, row_stride});
    };
    check_same_bits<Port>(check, scores.size(), compute, compute);
  }
}

// Checks columns: their means and maxima, and elements that are scaled by those of two rows.
template <class Port>
void check_columns(Check& check, std::size_t length) {
  const kernel::Dense rows{scores.data(), row_stride};
  const auto check_same = [&](auto compute) { check_same_bits<Port>(check, scores.size(), compute, compute); };
  check_same([=](auto port, float* out) { kernel::mean_of_rows<decltype(port)>(row_count, length, rows, out); });
  check_same([=](auto port, float* out) { kernel::maximum_of_rows<decltype(port)>(row_count, length, rows, out); });
  check_each_row<Port>(
      check, [=](std::size_t) { return length; },
      [](auto port, auto from, auto to, std::size_t count) {
        kernel::standardize_row<decltype(port)>(from, source(1), source(2), to, count);
      });
}

// Checks rows of one length.
template <class Port>
void check_equal_rows(Check& check, std::size_t length) {
  const auto ends = [=](std::size_t) { return length; };
  check_each_row<Port>(check, ends, normalize_row);
  check_each_row<Port>(check, ends, exp_row);
  check_each_row<Port>(check, ends, softmax_row, [&](auto port, float* out) {
    const auto softmax = [&](auto whole) {
      kernel::softmax<decltype(port), decltype(whole)::value>(row_count, {scores.data(), row_stride}, {out, row_stride}, ends, row_scale);
    };
    length % port.lanes == 0 ? softmax(std::true_type{}) : softmax(std::false_type{});
  });
}

// Checks rows of increasing length, from none or nearly none to `length`, in place: the scores of consecutive queries. What follows a row's
// end must not be read; it may be written as far as the room of the longest row.
template <class Port>
void check_growing_rows(Check& check, std::size_t length) {
  constexpr std::size_t first = 2;
  const kernel::Mask mask{length, static_cast<std::ptrdiff_t>(length) - 9};
  const auto ends = [=](std::size_t i) { return mask.end(first + i); };
  check_each_row<Port>(check, ends, softmax_row, [&](auto port, float* out) {
    const std::size_t room = kernel::room_of_scores<decltype(port)>(length);
    for (std::size_t i = 0; i < row_count * row_stride; ++i)
      if (i % row_stride < room) out[i] = i % row_stride < ends(i / row_stride) ? scores[i] : quiet_nan;
    kernel::masked_softmax<decltype(port)>(row_count, {out, row_stride}, mask, first, row_scale);
    for (std::size_t i = 0; i < row_count; ++i)
      for (std::size_t j = ends(i); j < room; ++j) out[i * row_stride + j] = Guarded<float>::untouched;
  });
}

// Checks rows of a length that the compiler knows.
template <class Port, std::size_t Length>
void check_short_rows(Check& check) {
  const auto ends = [](std::size_t) { return Length; };
  check_each_row<Port>(check, ends, softmax_row, [&](auto, float* out) {
    kernel::softmax_of_short_rows<kernel::narrowed<Port, Length>, Length>(row_count, kernel::Dense{scores.data(), row_stride},
                                                                          {out, row_stride}, ends, row_scale);
  });
}

// Checks all kernels of rows, also with masked scores and NaN in some of the rows.
template <class Port>
void check_rows(Check& check) {
  constexpr std::size_t lanes = Port::lanes;
  for (std::size_t length = 1; length <= longest_row; ++length) {
    const float largest = length % 3 == 0 ? 80.0f : 1.0f;
    for (std::size_t j = 0; j < scores.size(); ++j) scores[j] = source(length)[j] * largest;
    check_norms<Port>(check, length);
    check_columns<Port>(check, length);
    check_equal_rows<Port>(check, length);
    scores[row_stride + length / 3] = -infinity;
    scores[5 * row_stride + length / 2] = quiet_nan;
    for (std::size_t j = 0; j < length; ++j) scores[9 * row_stride + j] = -infinity;
    check_equal_rows<Port>(check, length);
    check_growing_rows<Port>(check, length);
    check_columns<Port>(check, length);
    if (length <= 17) check_activations<Port>(check, [=](std::size_t) { return length; });
  }
  check_short_rows<Port, 1>(check);
  check_short_rows<Port, 6>(check);
  check_short_rows<Port, lanes>(check);
  check_short_rows<Port, lanes + 1>(check);
  check_short_rows<Port, (lanes == 1 ? 32 : 2 * lanes - 1)>(check);
  check_short_rows<Port, 2 * lanes>(check);
}

}  // namespace tinyattn::test
