// SPDX-License-Identifier: MIT
//
// Activations in integers, between two products with int8 weights: what enters the second product
// is quantized anyhow. An activation is x times a ratio s(x) from 0 to 1, which a table holds.
#pragma once

#include "tinyattn/kernel/activation.hpp"
#include "tinyattn/kernel/int8/product.hpp"

#include <bit>
#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// s(x) of |x| = 0, 1/16 ... 12 1/16, times 2^15: of positive x, then of negative x.
struct ActivationRatios {
  static constexpr std::int32_t count = 194, unit = 1024;  // |x| = 1 in the units of look-ups
  std::uint16_t at[2 * count];
};
template <class Activate>
inline constexpr ActivationRatios ratios_of = [] {
  ActivationRatios ratios{};
  for (std::int32_t i = 0; i < 2 * ActivationRatios::count; ++i) {
    const float size = static_cast<float>(i % ActivationRatios::count) * 0x1p-4f + 0x1p-20f;
    const float x = i < ActivationRatios::count ? size : -size;
    const float doubled = Activate{}(x) / x * 0x1p16f;
    ratios.at[i] = static_cast<std::uint16_t>((static_cast<std::uint32_t>(doubled) + 1) / 2);
  }
  return ratios;
}();

// The elements of a table at several indices, and those after them.
template <class Port>
struct Neighbours {
  Integers<Port> low, high;

  TINYATTN_KERNEL Neighbours(const std::uint16_t* table, Integers<Port> index) noexcept {
    if constexpr (Port::lanes == 1) {
      low = table[index], high = table[index + 1];
    } else if constexpr (requires { Port::look_up(table, index); }) {
      low = Port::look_up(table, index), high = Port::look_up(table, index + 1);
    } else {
      typename IntegersOf<Port>::unsigned_type both{};  // one load for two elements
      for (std::size_t lane = 0; lane < Port::lanes; ++lane) {
        std::uint32_t two;
        __builtin_memcpy(&two, table + index[lane], sizeof(two));
        both[lane] = two;
      }
      constexpr bool is_little = std::endian::native == std::endian::little;
      low = __builtin_bit_cast(Integers<Port>, is_little ? both & 0xffff : both >> 16);
      high = __builtin_bit_cast(Integers<Port>, is_little ? both >> 16 : both & 0xffff);
    }
  }
};

// A row of floats as integers of 14 bits: one of the operands of an activation.
template <class Port>
struct RowOf14Bits {
  static constexpr unsigned bits = 14;
  const float* row;
  std::uint32_t magnitude, exponent;

  TINYATTN_KERNEL RowOf14Bits(const float* x, std::size_t count) noexcept
      : row(x),
        magnitude(magnitude_bits<Port>(x, count)),
        exponent(row_exponent(magnitude, bits)) {}

  TINYATTN_KERNEL bool is_finite() const noexcept { return magnitude < infinity_bits; }
  TINYATTN_KERNEL bool is_zero() const noexcept { return magnitude < least_exponent << 23; }
  TINYATTN_KERNEL Rounding<Port> rounding() const noexcept { return {exponent, bits}; }
  // An element is an integer times 2^power.
  TINYATTN_KERNEL std::int32_t power() const noexcept {
    return static_cast<std::int32_t>(exponent) - 127 - 13;
  }
};

// Multiplies integers by their ratios: n becomes n * s(n * 2^power), with 15 bits after the point.
template <class Port>
class TimesRatio {
 public:
  TINYATTN_KERNEL TimesRatio(const ActivationRatios& ratios, std::int32_t power) noexcept
      : table_(ratios.at), left_(clamped(power + 10, 14)), right_(clamped(-power - 10, 31)) {}

  TINYATTN_KERNEL Integers<Port> operator()(Integers<Port> n) const noexcept {
    constexpr std::int32_t most = 12 * ActivationRatios::unit;
    const auto z = lesser(absolute(n) << left_ >> right_, Integers<Port>{} + most);
    const auto index = (z >> 6) + (n >> 31 & ActivationRatios::count);
    const Neighbours<Port> ratio(table_, index);
    return n * (ratio.low + ((ratio.high - ratio.low) * (z & 63) >> 6));
  }

 private:
  static constexpr std::int32_t clamped(std::int32_t shift, std::int32_t most) noexcept {
    return shift < 0 ? 0 : shift < most ? shift : most;
  }

  const std::uint16_t* table_;
  std::int32_t left_, right_;  // of which one is 0
};

// Quantizes a row of products, which are integers times 2^power, in place; `width` is the number of
// bits of the largest. They get one bit less than inputs may have, so that none rounds to too many.
template <class Port>
constexpr void quantize_products(IntegerRows row, std::size_t count, std::int32_t width,
                                 std::int32_t power) noexcept {
  using Integral = IntegerPort<Port>;
  const std::int32_t bits = static_cast<std::int32_t>(input_bits(count)) - 1;
  const std::int32_t shift = width > bits ? width - bits : 0, step = power + shift;
  if (width == 0 || step + bits <= -64 || step > 127)
    return finish_without_integers<Port>(row, step <= 127);
  const std::int32_t half = (1 << shift) >> 1;
  Integers<Integral> sum{};
  for_each_vector<Integral>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto q = (load_and_add<Integral>(row.q + at.j, 0) + half) >> shift;
    store_integers<Integral>(row.q + at.j, q);
    sum += q;
  });
  finish_row<Port>(row, count, sum_of_integers<Integral>(sum),
                   float_of(static_cast<std::uint32_t>(step + 127) << 23));
}

// row = quantize(activation(x)), or quantize(activation(gates) * x) with gates.
template <class Port>
constexpr void activate_in_integers(const ActivationRatios& ratios, const float* gates,
                                    const float* x, std::size_t count, IntegerRows row) noexcept {
  using Integral = IntegerPort<Port>;
  const bool is_gated = !is_null(gates);
  const RowOf14Bits<Integral> gate(is_gated ? gates : x, count), factor(x, count);
  const bool is_finite = gate.is_finite() && factor.is_finite();
  if (!is_finite || gate.is_zero() || factor.is_zero())
    return finish_without_integers<Port>(row, is_finite);
  const auto round_gate = gate.rounding(), round_factor = factor.rounding();
  const TimesRatio<Integral> multiplied(ratios, gate.power());
  Integers<Integral> bits{};
  const auto activate = [&]<bool IsGated>(std::bool_constant<IsGated>) TINYATTN_INLINE_LAMBDA {
    for_each_vector<Integral>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      Integers<Integral> other{};
      if constexpr (IsGated) other = round_factor(at.load(x, 0.0f));
      auto product = multiplied(round_gate(at.load(gate.row, 0.0f)));
      if constexpr (IsGated) product = ((product + (1 << 13)) >> 14) * other;
      store_integers<Integral>(row.q + at.j, product);
      bits |= product ^ product >> 31;
    });
  };
  is_gated ? activate(std::true_type{}) : activate(std::false_type{});
  const auto width =
      static_cast<std::int32_t>(std::bit_width(all_bits_of_integers<Integral>(bits)));
  quantize_products<Port>(row, count, width, gate.power() + (is_gated ? factor.power() - 1 : -15));
}

// Returns the input of `down`: rows of integers.
template <class Port>
[[gnu::noinline]] constexpr void activate_rows_in_integers(Activation activation, std::size_t rows,
                                                           std::size_t count, const float* gates,
                                                           const float* hidden,
                                                           IntegerRows to) noexcept {
  with_activation<port::scalar>(activation, [&](auto apply) {
    for (std::size_t i = 0; i < rows; ++i)
      activate_in_integers<Port>(ratios_of<decltype(apply)>,
                                 is_null(gates) ? nullptr : gates + i * count, hidden + i * count,
                                 count, to.from(i));
  });
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
