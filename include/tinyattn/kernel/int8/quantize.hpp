// SPDX-License-Identifier: MIT
//
// Rows of floats as rows of integers, each row with a scale: what multiplies int8 weights. A sum of
// their products is exact, so that its order is free.
#pragma once

#include "tinyattn/kernel/int8/integers.hpp"
#include "tinyattn/kernel/operand.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

inline constexpr std::uint32_t infinity_bits = 0x7f800000, nan_bits = 0x7fc00000;
inline constexpr std::uint32_t least_exponent = 63;  // that of 2^-64: a row of less is all zeros

// The number of integers, or of codes, in a row of `count`: a multiple of 16.
constexpr std::size_t row_size(std::size_t count) noexcept { return (count + 15) / 16 * 16; }

// The bits of an integer input, without its sign: at most 14, and so few that a sum of `inner`
// products with weights has 32 bits. With more inputs than most_inputs they would be fewer than 8.
inline constexpr std::size_t most_inputs = 0x7fffffff / 127 / 255;
constexpr unsigned input_bits(std::size_t inner) noexcept {
  unsigned bits = 14;
  while (((1u << bits) - 1) * inner > 0x7fffffff / 127) --bits;
  return bits;
}

// --- A row ---

// The maximum magnitude of a row, as the bits of a float: from infinity_bits on, if an element is
// infinite or NaN.
template <class Port>
TINYATTN_KERNEL std::uint32_t magnitude_bits(const float* x, std::size_t count) noexcept {
  if constexpr (requires { Port::magnitude_bits(x, count); }) {
    return Port::magnitude_bits(x, count);
  } else {
    Integers<Port> most{};
    for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      most = greater(as_integers<Port>(at.load(x, 0.0f)) & 0x7fffffff, most);
    });
    return greatest_of_integers<Port>(most);
  }
}

// The scale of a row whose maximum magnitude has these bits: the power of two with which no element
// rounds to more than 2^bits - 1 steps. `exponent` is the biased one of 2^bits steps.
constexpr std::uint32_t row_exponent(std::uint32_t magnitude, unsigned bits) noexcept {
  return (magnitude + (1u << (23 - bits))) >> 23;
}
constexpr float step_of(std::uint32_t exponent, unsigned bits) noexcept {
  return float_of((exponent - bits + 1) << 23);
}
constexpr float steps_of_one(std::uint32_t exponent, unsigned bits) noexcept {  // 1 / step_of
  return float_of((253 + bits - exponent) << 23);
}

// Returns x / step, rounded half to even, by shifting the mantissa. What is below 2^-126 counts
// as 0.
constexpr std::int32_t shifted_to_integer(std::uint32_t x, std::uint32_t exponent,
                                          unsigned bits) noexcept {
  const std::uint32_t shift = exponent + 24 - bits - (x << 1 >> 24);
  if (shift > 25) return 0;
  const std::uint32_t mantissa = (x & 0x7fffff) | 0x800000;
  const std::uint32_t half = (1u << shift >> 1) - 1 + (mantissa >> shift & 1);
  const std::uint32_t magnitude = (mantissa + half) >> shift;
  return static_cast<std::int32_t>((x >> 31) != 0 ? 0 - magnitude : magnitude);
}

// Whether fma is a function of integers, so that shifts are cheaper.
template <class Port>
inline constexpr bool shifts_mantissas = requires(float* to) {
  Port::add_multiple(0.0f, to, 1, to, 1);
};

// Rounds floats to integers: x / step, half to even.
template <class Port>
class Rounding {
 public:
  TINYATTN_KERNEL Rounding(std::uint32_t exponent, unsigned bits) noexcept
      : exponent_(exponent), bits_(bits), factor_(Port::splat(steps_of_one(exponent, bits))) {}

  TINYATTN_KERNEL Integers<Port> operator()(typename Port::vec x) const noexcept {
    if constexpr (Port::lanes == 1)
      if (shifts_mantissas<Port> || __builtin_is_constant_evaluated())
        return shifted_to_integer(bits_of(x), exponent_, bits_);
    // The product with a power of two is exact, and the sum has it rounded in its low bits.
    constexpr float magic = 0x1.8p23f;
    if constexpr (Port::lanes == 1)
      return static_cast<std::int16_t>(bits_of(Port::add(Port::mul(x, factor_), magic)));
    else
      return as_integers<Port>(Port::fma(x, factor_, Port::splat(magic))) -
             static_cast<std::int32_t>(bits_of(magic));
  }

 private:
  std::uint32_t exponent_;
  unsigned bits_;
  typename Port::vec factor_;
};

// q[k] = x[k] / step, rounded half to even. Returns the sum of q modulo 2^32. Writes whole vectors.
template <class Port>
TINYATTN_KERNEL std::uint32_t round_row(const float* x, std::size_t count, std::uint32_t exponent,
                                        unsigned bits, std::int32_t* q) noexcept {
  if constexpr (requires { Port::round_row(x, count, exponent, bits, q); }) {
    return Port::round_row(x, count, exponent, bits, q);
  } else {
    const Rounding<Port> rounded(exponent, bits);
    Integers<Port> sum{};
    for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      const auto n = rounded(at.load(x, 0.0f));
      store_integers<Port>(q + at.j, n);
      sum += n;
    });
    return sum_of_integers<Port>(sum);
  }
}

// --- Rows ---

// Rows of integers, in scratch. Row i begins at q + i * stride, and has two words more than it has
// integers: its scale, and what sums of its products with codes lack, which is -128 times the sum
// of the integers, or 0 if they begin with that. The scale is 0 for a row of zeros, and NaN if an
// element was infinite or NaN.
struct IntegerRows {
  std::int32_t* q;
  std::size_t stride;

  TINYATTN_KERNEL IntegerRows from(std::size_t i) const noexcept {
    return {q + i * stride, stride};
  }
  TINYATTN_KERNEL float scale() const noexcept { return __builtin_bit_cast(float, q[stride - 2]); }
  TINYATTN_KERNEL std::uint32_t correction() const noexcept {
    return static_cast<std::uint32_t>(q[stride - 1]);
  }
};

// How many integers of scratch a row takes.
constexpr std::size_t integer_row(std::size_t inner) noexcept { return row_size(inner) + 2; }

template <class Port>
concept sums_integers = requires {
  Port::integer_rows;
};

// Packs a row for the port's integer_dots. Returns what their sums lack: the correction, or 0 where
// sums begin with it.
template <class Port>
TINYATTN_KERNEL std::uint32_t pack_row(std::int32_t* q, std::size_t terms,
                                       std::uint32_t correction) noexcept {
  if constexpr (requires { Port::pack_row(q, terms, correction); }) {
    Port::pack_row(q, terms, correction);
    return 0;
  } else {
    if constexpr (sums_integers<Port>) Port::pack_row(q, terms);
    return correction;
  }
}

// Whether the port quantizes a row in one function, to the form that its integer_dots takes.
template <class Port>
concept quantizes_rows = requires(const float* x, std::int32_t* q, std::uint32_t& sum) {
  Port::template quantize<Port>(x, 1, 16, 14u, q, sum);
};

// Ends a row of which `count` integers, whose sum is `sum`, are written: with zeros, scale and
// correction, and in the form that the port's integer_dots takes.
template <class Port>
TINYATTN_KERNEL void finish_row(IntegerRows row, std::size_t count, std::uint32_t sum,
                                float scale) noexcept {
  const std::size_t size = row.stride - 2;
  for (std::size_t k = count; k < size; ++k) row.q[k] = 0;
  row.q[size] = __builtin_bit_cast(std::int32_t, scale);
  row.q[size + 1] = static_cast<std::int32_t>(pack_row<Port>(row.q, size, 0u - sum * 128u));
}

// Ends a row of zeros, or of NaN.
template <class Port>
TINYATTN_KERNEL void finish_without_integers(IntegerRows row, bool is_finite) noexcept {
  finish_row<Port>(row, 0, 0, is_finite ? 0.0f : float_of(nan_bits));
}

// Quantizes one row of x.
template <class Port>
constexpr void quantize_row(const float* x, std::size_t inner, IntegerRows row) noexcept {
  using Integral = IntegerPort<Port>;
  const std::uint32_t magnitude = magnitude_bits<Integral>(x, inner);
  if (magnitude >= infinity_bits || magnitude < least_exponent << 23)
    return finish_without_integers<Port>(row, magnitude < infinity_bits);
  const unsigned bits = input_bits(inner);
  const std::uint32_t exponent = row_exponent(magnitude, bits);
  if constexpr (requires { Port::round_and_pack(x, inner, 1.0f, row.q, inner); }) {
    const std::size_t size = row.stride - 2;
    row.q[size + 1] = static_cast<std::int32_t>(
        Port::round_and_pack(x, inner, steps_of_one(exponent, bits), row.q, size));
    row.q[size] = __builtin_bit_cast(std::int32_t, step_of(exponent, bits));
  } else {
    const std::uint32_t sum = round_row<Integral>(x, inner, exponent, bits, row.q);
    finish_row<Port>(row, inner, sum, step_of(exponent, bits));
  }
}

template <quantizes_rows Port>
constexpr void quantize_row(const float* x, std::size_t inner, IntegerRows row) noexcept {
  const unsigned bits = input_bits(inner);
  std::uint32_t sum = 0;
  const std::uint32_t magnitude =
      Port::template quantize<Port>(x, inner, row.stride - 2, bits, row.q, sum);
  if (magnitude >= infinity_bits || magnitude < least_exponent << 23)
    return finish_without_integers<Port>(row, magnitude < infinity_bits);
  row.q[row.stride - 2] =
      __builtin_bit_cast(std::int32_t, step_of(row_exponent(magnitude, bits), bits));
  row.q[row.stride - 1] = static_cast<std::int32_t>(0u - sum * 128u);
}

template <class Port>
[[gnu::noinline]] constexpr void quantize_rows(std::size_t rows, std::size_t inner, Dense x,
                                               IntegerRows to) noexcept {
  for (std::size_t i = 0; i < rows; ++i) quantize_row<Port>(x.at(i, 0), inner, to.from(i));
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
