// SPDX-License-Identifier: MIT
//
// Compares the kernels of rows on a port (softmax, normalize, exp, activations), which take several rows at a time or short rows, with the
// scalar port, which takes row after row.
#pragma once

#include <array>
#include <cstddef>

#include "same_bits.hpp"
#include "tinyattn/kernel/activation.hpp"
#include "tinyattn/kernel/softmax.hpp"

namespace tinyattn::test {

inline constexpr std::size_t longest_row = 67;
inline constexpr std::size_t row_count = 11;
inline constexpr std::size_t row_stride = 83;  // room for whole vectors
inline constexpr float row_scale = 40.0f;

inline std::array<float, row_count * row_stride> scores;

// Row i has ends(i) elements. step(port, from, to, count) computes one row; the function that is returned computes all.
inline auto each_row(auto ends, auto step) {
  return [=](auto port, float* out) {
    const float* from = scores.data();
    for (std::size_t i = 0; i < row_count; ++i, from += row_stride, out += row_stride) {
      step(port, from, out, ends(i));
    }
  };
}
template <class Port>
void check_each_row(Check& check, auto ends, auto step, auto compute) {
  check_same_bits<Port>(check, scores.size(), each_row(ends, step), compute);
}

inline constexpr auto softmax_row = [](auto port, auto from, auto to, std::size_t count) {
  const auto mask = kernel::no_mask(count);
  kernel::softmax<decltype(port), false>(1, {from, 0}, {to, 0}, mask, 0, row_scale);
};
inline constexpr auto normalize_row = [](auto port, auto from, auto to, std::size_t count) {
  kernel::normalize_rows<decltype(port)>({from, 0}, {to, 0}, count);
};
inline constexpr auto exp_row = [](auto port, auto from, auto to, std::size_t count) {
  const auto exp = [](auto x) { return kernel::exp<decltype(port)>(x); };
  kernel::transform_row<decltype(port)>(from, to, count, exp);
};
inline constexpr auto tanh_row = [](auto port, auto from, auto to, std::size_t count) {
  const auto tanh = [](auto x) { return kernel::tanh<decltype(port)>(x); };
  kernel::transform_row<decltype(port)>(from, to, count, tanh);
};
inline constexpr auto erf_row = [](auto port, auto from, auto to, std::size_t count) {
  const auto erf = [](auto x) { return kernel::erf<decltype(port)>(x); };
  kernel::transform_row<decltype(port)>(from, to, count, erf);
};

// Checks activations chosen at run time, as in libtinyattn, and one that the compiler knows.
template <class Port>
void check_activations(Check& check, auto ends) {
  check_each_row<Port>(check, ends, tanh_row, each_row(ends, tanh_row));
  check_each_row<Port>(check, ends, erf_row, each_row(ends, erf_row));
  for (const auto activation : {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu}) {
    const auto row = [=](auto port, auto from, auto to, std::size_t count) {
      kernel::activate_row<decltype(port)>(opaque(activation), from, to, count);
    };
    check_each_row<Port>(check, ends, row, each_row(ends, row));
  }
  const auto row = [](auto port, auto from, auto to, std::size_t count) {
    kernel::activate_row<decltype(port)>(Activation::gelu, from, to, count);
  };
  check_each_row<Port>(check, ends, row, each_row(ends, row));
}

// Checks rows of one length.
template <class Port>
void check_equal_rows(Check& check, std::size_t length) {
  const auto ends = [=](std::size_t) { return length; };
  check_each_row<Port>(check, ends, normalize_row, each_row(ends, normalize_row));
  check_each_row<Port>(check, ends, exp_row, each_row(ends, exp_row));
  const auto mask = kernel::no_mask(length);
  const kernel::Dense from{scores.data(), row_stride};
  check_each_row<Port>(check, ends, softmax_row, [&](auto port, float* out) {
    const kernel::Output to{out, row_stride};
    if (length % port.lanes == 0)
      kernel::softmax<decltype(port), true>(row_count, from, to, mask, 0, row_scale);
    else
      kernel::softmax<decltype(port), false>(row_count, from, to, mask, 0, row_scale);
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
    const kernel::Output to{out, row_stride};
    const std::size_t room = kernel::room_of_scores<decltype(port)>(length);
    for (std::size_t i = 0; i < row_count; ++i)
      for (std::size_t j = 0; j < room; ++j) {
        const bool is_behind = j >= ends(i);
        *to.at(i, j) = is_behind ? quiet_nan : scores[i * row_stride + j];
      }
    kernel::masked_softmax<decltype(port)>(row_count, to, mask, first, row_scale);
    for (std::size_t i = 0; i < row_count; ++i)
      for (std::size_t j = ends(i); j < room; ++j) *to.at(i, j) = Guarded<float>::untouched;
  });
}

// Checks rows of a length that the compiler knows.
template <class Port, std::size_t Length>
void check_short_rows(Check& check) {
  const auto ends = [](std::size_t) { return Length; };
  check_each_row<Port>(check, ends, softmax_row, [&](auto, float* out) {
    using Narrow = kernel::narrowed<Port, Length>;
    const kernel::Dense from{scores.data(), row_stride};
    kernel::softmax_of_short_rows<Narrow, Length>(row_count, from, {out, row_stride}, row_scale);
  });
}

// Checks all kernels of rows, also with masked scores and NaN in some of the rows.
template <class Port>
void check_rows(Check& check) {
  constexpr std::size_t lanes = Port::lanes;
  for (std::size_t length = 1; length <= longest_row; ++length) {
    const float largest = length % 3 == 0 ? 80.0f : 1.0f;
    for (std::size_t j = 0; j < scores.size(); ++j) scores[j] = source(length)[j] * largest;
    check_equal_rows<Port>(check, length);
    scores[row_stride + length / 3] = -infinity;
    scores[5 * row_stride + length / 2] = quiet_nan;
    for (std::size_t j = 0; j < length; ++j) scores[9 * row_stride + j] = -infinity;
    check_equal_rows<Port>(check, length);
    check_growing_rows<Port>(check, length);
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
