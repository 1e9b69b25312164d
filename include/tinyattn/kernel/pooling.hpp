// SPDX-License-Identifier: MIT
//
// Reductions over tokens, and over windows of tokens or of an image, column by column.
#pragma once

#include "tinyattn/kernel/axis.hpp"
#include "tinyattn/kernel/int8/quantize.hpp"
#include "tinyattn/kernel/operand.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The bits of a float as an integer of the same order, and back. A NaN lies above infinity or below
// -infinity, and +0 above -0.
template <class Vector>
TINYATTN_KERNEL Vector in_order_of_floats(Vector bits) noexcept {
  return bits ^ (bits >> 31 & 0x7fffffff);
}

// The maximum of vectors, lane by lane, or NaN where one of them has it.
template <class Integral>
struct MaximumOfVectors {
  Integers<Integral> most, least;

  using Vector = typename Integral::vec;
  TINYATTN_KERNEL static Integers<Integral> number(Vector v) noexcept {
    return in_order_of_floats(as_integers<Integral>(v));
  }
  TINYATTN_KERNEL MaximumOfVectors(Vector first) noexcept : most(number(first)), least(most) {}
  TINYATTN_KERNEL void take(Vector v) noexcept {
    const auto next = number(v);
    most = greater(most, next);
    least = lesser(least, next);
  }
  TINYATTN_KERNEL Vector result() const noexcept {
    constexpr auto infinity = static_cast<std::int32_t>(infinity_bits);
    const Integers<Integral> none{}, highest = none + infinity, lowest = none - infinity - 1;
    const Integers<Integral> nan = none + static_cast<std::int32_t>(nan_bits);
    return as_vector<Integral>(most > highest   ? nan
                               : least < lowest ? nan
                                                : in_order_of_floats(most));
  }
};

// What becomes of several vectors, each of a row or of an element of a window. Either their
// maximum, which is -infinity for none; or their sum, from -0 on, times a share.
struct Maximum {
  static constexpr bool is_mean = false;
  template <class Port>
  struct Of : MaximumOfVectors<IntegerPort<Port>> {
    using port = IntegerPort<Port>;
    TINYATTN_KERNEL Of(typename port::vec first = port::splat(-infinity)) noexcept
        : MaximumOfVectors<port>(first) {}
    TINYATTN_KERNEL auto result(float) const noexcept { return MaximumOfVectors<port>::result(); }
  };
};
struct Mean {
  static constexpr bool is_mean = true;
  template <class Port>
  struct Of {
    using port = Port;
    typename Port::vec sum = Port::splat(-0.0f);
    TINYATTN_KERNEL void take(typename Port::vec v) noexcept { sum = Port::add(sum, v); }
    TINYATTN_KERNEL auto result(float share) const noexcept {
      return Port::mul(sum, Port::broadcast(share));
    }
  };
};

// out[j] = what Reduce makes of x[0][j], x[1][j], ...: each sum, each product and the quotient are
// rounded.
template <class Port, class Reduce>
constexpr void reduce_rows(std::size_t rows, std::size_t cols, Dense x, float* out) noexcept {
  using Reduced = typename Reduce::template Of<Port>;
  const float share = Reduce::is_mean ? 1.0f / static_cast<float>(rows) : 0.0f;
  for_each_vector<typename Reduced::port>(cols, [&](auto at) TINYATTN_INLINE_LAMBDA {
    Reduced reduced{at.load(x.data, 0.0f)};
    for (std::size_t i = 1; i < rows; ++i) reduced.take(at.load(x.at(i, 0), 0.0f));
    at.store(out, reduced.result(share));
  });
}

// How many elements of a window are counted.
constexpr std::size_t counted(const Axis& axis, std::size_t i, bool counts_padding) noexcept {
  return counts_padding ? minimum(axis.kernel, axis.size + 2 * axis.padding - i * axis.stride)
                        : axis.window(i).count();
}

// Reduces each window of x, feature by feature.
template <class Port, class Reduce>
[[gnu::noinline]] constexpr void pool(const Axes& axes, std::size_t features, bool counts_padding,
                                      const float* x, float* out) noexcept {
  using Reduced = typename Reduce::template Of<Port>;
  for (std::size_t i = 0; i < axes.height.count(); ++i)
    for (std::size_t j = 0; j < axes.width.count(); ++j) {
      const Overlap down = axes.height.window(i), along = axes.width.window(j);
      const std::size_t count =
          counted(axes.height, i, counts_padding) * counted(axes.width, j, counts_padding);
      const float share = Reduce::is_mean ? 1.0f / static_cast<float>(count) : 0.0f;
      float* const to = out + i * axes.height.out_step + j * axes.width.out_step;
      for_each_vector<typename Reduced::port>(features, [&](auto at) TINYATTN_INLINE_LAMBDA {
        Reduced reduced;
        axes.visit(down, along, 1,
                   [&](std::size_t, std::size_t, std::size_t offset)
                       TINYATTN_INLINE_LAMBDA { reduced.take(at.load(x + offset, 0.0f)); });
        at.store(to, reduced.result(share));
      });
    }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
