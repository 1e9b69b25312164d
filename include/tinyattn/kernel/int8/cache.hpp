// SPDX-License-Identifier: MIT
//
// A cache of int8: the keys and values of a head and token are integers with one scale, in a
// quarter of the memory that floats take.
#pragma once

#include "tinyattn/kernel/cache.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Rows of a cache are padded to eights: heads are narrow.
constexpr std::size_t padded_to_eight(std::size_t count) noexcept { return (count + 7) / 8 * 8; }

// The keys and values of one layer, as codes of int8 weights: integers from -127 to 127, plus 128.
struct Int8Cached {
  std::uint8_t* keys;          // [kv heads, context_length, padded head_dim]
  std::uint8_t* values;        // transposed: [kv_width, padded context_length]
  std::uint8_t* key_scales;    // [kv heads, context_length]
  std::uint8_t* value_scales;  // [kv heads, context_length]
  std::size_t context_length;
};

// --- Scales of eight bits ---

// A scale is (8 + s % 8) * 2^(s / 8 - 25), from 2^-22 to 896: about the range of half precision. A
// head with an element from 114,240 on, or with a NaN, has no_scale: all its attention is NaN.
inline constexpr std::uint32_t no_scale = 255;
inline constexpr std::int32_t scale_bias = 25;
constexpr std::int32_t scale_exponent(std::uint32_t scale) noexcept {
  return static_cast<std::int32_t>(scale / 8) - scale_bias;
}

// Returns the least scale with which no element rounds to more than 127 steps; `magnitude` has the
// bits of the largest. The limits are 127.5 steps of 9 to 16 times a power of two: a mantissa from
// 0xf7000 on in steps of 0xff000, of which there are (n + 1) * 257 >> 16 in n.
constexpr std::uint32_t scale_of(std::uint32_t magnitude) noexcept {
  constexpr std::int32_t first = 127 - scale_bias + 10;
  const std::uint32_t limits = ((magnitude & 0x7fffff) / 0x1000 + 9) * 257 >> 16;
  const std::int32_t steps = (static_cast<std::int32_t>(magnitude >> 23) - first) * 8 + 1 +
                             static_cast<std::int32_t>(limits);
  return static_cast<std::uint32_t>(steps < 0 ? 0
                                              : minimum(static_cast<std::size_t>(steps), no_scale));
}

// How x / scale is rounded: a left-aligned mantissa is shifted right by `places` minus its
// exponent, to 16ths; the quotient by 8 to 15 is a product with a reciprocal, 0 for no_scale.
struct Divisor {
  std::uint32_t places, reciprocal;
};
inline constexpr std::uint16_t reciprocals[] = {16384, 14563, 13107, 11915, 10922,
                                                10082, 9362,  8738};  // 2^17 / 8 to 2^17 / 15
constexpr Divisor divisor_of(std::uint32_t scale) noexcept {
  return {scale / 8 + (27 + 127 - scale_bias),
          scale == no_scale ? 0u : std::uint32_t{reciprocals[scale % 8]}};
}

// Returns the codes of floats, of which these are the bits.
template <class Port>
TINYATTN_KERNEL Integers<Port> codes_of(Integers<Port> bits, const Divisor& divisor) noexcept {
  const auto x = __builtin_bit_cast(Naturals<Port>, bits);
  const auto right = divisor.places - (x << 1 >> 24);
  const auto sixteenths = shift_right<Port>(
      x << 8 | 0x80000000u, Port::lanes == 1 ? right : lesser(right, Naturals<Port>{} + 63));
  const auto steps =
      __builtin_bit_cast(Integers<Port>, (sixteenths * divisor.reciprocal + (1u << 20)) >> 21);
  return ((steps ^ bits >> 31) - (bits >> 31)) + 128;
}

// Writes the codes of one head of one token, `step` apart, and returns their scale.
template <class Port>
constexpr std::uint8_t encode(const float* x, std::size_t count, std::uint8_t* codes,
                              std::size_t step) noexcept {
  const std::uint32_t scale = scale_of(magnitude_bits<IntegerPort<Port>>(x, count));
  const Divisor divisor = divisor_of(scale);
  if constexpr (requires { Port::encode(x, count, codes, step, 0u, 0u); }) {
    Port::encode(x, count, codes, step, divisor.places, divisor.reciprocal);
  } else {
    using Shifting = ShiftingPort<Port>;
    for_each_vector<Shifting>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      std::int32_t some[Shifting::lanes];
      store_integers<Shifting>(
          some, codes_of<Shifting>(as_integers<Shifting>(at.load(x, 0.0f)), divisor));
      for (std::size_t i = 0; i < at.count; ++i)
        codes[(at.j + i) * step] = static_cast<std::uint8_t>(some[i]);
    });
  }
  return static_cast<std::uint8_t>(scale);
}

// Stores the keys of `rows` tokens in the rows of the cache from `first` on.
template <class Port>
TINYATTN_KERNEL void store_keys(const auto& layer, const Int8Cached& cache, std::size_t first,
                                std::size_t rows, Output keys) noexcept {
  const std::size_t dim = layer.head_dim, context = cache.context_length;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t head = 0; head < kv_width(layer) / dim; ++head) {
      const std::size_t row = head * context + first + i;
      std::uint8_t* const codes = cache.keys + row * padded_to_eight(dim);
      cache.key_scales[row] = encode<Port>(keys.at(i, head * dim), dim, codes, 1);
    }
}

// Computes their values from the input of the layer, in `values`, and stores them.
template <class Port>
TINYATTN_KERNEL void store_values(const auto& layer, const Int8Cached& cache, std::size_t first,
                                  std::size_t rows, const auto& x, Output values) noexcept {
  const std::size_t dim = layer.head_dim, context = cache.context_length, width = kv_width(layer);
  const std::size_t step = padded_to_eight(context);
  project_few<Port>(rows, value_inputs(layer), width, x, layer.value, values);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t head = 0; head < width / dim; ++head) {
      std::uint8_t* const codes = cache.values + head * dim * step + first + i;
      cache.value_scales[head * context + first + i] =
          encode<Port>(values.at(i, head * dim), dim, codes, step);
    }
}

// --- One head ---

// What a cache holds of one head.
struct Int8CachedHead {
  Codes keys;                        // [context_length, padded head_dim]
  Codes values;                      // [head_dim, padded context_length]
  const std::uint8_t* key_scales;    // [context_length]
  const std::uint8_t* value_scales;  // [context_length]

  // Returns the keys from j on; values stay.
  TINYATTN_KERNEL Int8CachedHead from(std::size_t j) const noexcept {
    return {keys.from(j), values, key_scales + j, value_scales + j};
  }
};
TINYATTN_KERNEL Int8CachedHead head_of(const Int8Cached& cache, std::size_t dim,
                                       std::size_t head) noexcept {
  const std::size_t key_row = padded_to_eight(dim), context = cache.context_length;
  const std::size_t value_row = padded_to_eight(context);
  return {{cache.keys + head * context * key_row, key_row, key_row},
          {cache.values + head * dim * value_row, value_row, value_row},
          cache.key_scales + head * context,
          cache.value_scales + head * context};
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
