// SPDX-License-Identifier: MIT
//
// Dropout: Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting",
// 2014, in the inverted form of PyTorch, which multiplies kept elements by 1 / (1 - rate).
#pragma once

#include "tinyattn/kernel/random.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>
#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn {

namespace detail {

// An integer of 64 bits, aligned like one of 32 bits. Clang, at least up to 19, reads members of a
// template argument at wrong offsets if padding precedes them.
struct TwoWords {
  constexpr TwoWords(std::uint64_t value) noexcept  // NOLINT(google-explicit-constructor)
      : low(static_cast<std::uint32_t>(value)), high(static_cast<std::uint32_t>(value >> 32)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  TINYATTN_ALWAYS_INLINE constexpr operator std::uint64_t() const noexcept {
    return (std::uint64_t{high} << 32) | low;
  }

  std::uint32_t low, high;
};

}  // namespace detail

// The rate of a dropout, that is the share of elements that it drops: a constant expression from 0
// to 1, as in `.dropout = 0.1`. The compiler computes the bounds for random numbers, so that no
// double reaches the program. All members are integers: with -fsingle-precision-constant, GCC 12
// crashes on a double in a template argument.
struct DropoutRate {
  // Converts a number, which must lie in [0, 1].
  consteval DropoutRate(
      double rate) noexcept  // NOLINT(google-explicit-constructor): a rate is written as a number
      : bits(__builtin_bit_cast(std::uint64_t, rate + zero)),  // -0 is 0
        keep_below_2_53(threshold(rate, 0x1p53)),
        keep_below_2_32(threshold(rate, 0x1p32)),
        scale_bits(__builtin_bit_cast(std::uint32_t,
                                      rate < one ? 1.0f / static_cast<float>(one - rate) : 0.0f)) {}

  // Returns the rate; a rate of -0 has become 0. Kernels read only the integers below.
  // NOLINTNEXTLINE(google-explicit-constructor)
  TINYATTN_ALWAYS_INLINE constexpr operator double() const noexcept {
    return __builtin_bit_cast(double, std::uint64_t{bits});
  }

  // Whether the rate lies in [0, 1].
  consteval bool is_valid() const noexcept { return *this >= zero && *this <= one; }
  // Whether it is the double that was written. With -fsingle-precision-constant the literal 0.1 is
  // a float, and so another rate than elsewhere; a rate with at most twelve binary places, such as
  // 0.5 or 0.125, is the same.
  consteval bool is_as_written() const noexcept {
    if (sizeof(0.1) == sizeof(double) || !is_valid()) return true;
    const double steps = *this * double{4096};
    return steps == static_cast<double>(static_cast<std::int32_t>(steps));
  }

  detail::TwoWords bits;             // bits of the rate, a double
  detail::TwoWords keep_below_2_53;  // 53 random bits below this keep an element
  detail::TwoWords keep_below_2_32;  // 32 random bits below this keep an element
  std::uint32_t scale_bits;          // bits of 1 / (1 - rate), a float that scales kept elements

 private:
  static constexpr double zero = 0.0, one = 1.0;

  // ceil((1 - rate) * range)
  static consteval std::uint64_t threshold(double rate, double range) noexcept {
    const double exact = (rate >= zero && rate <= one ? one - rate : zero) * range;
    const auto whole = static_cast<std::uint64_t>(exact);
    return static_cast<double>(whole) < exact ? whole + 1 : whole;
  }
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// The rate of one call. If it is wrong, the compiler rejects the call of a function that is not
// constexpr, and its error names this function, such as must_lie_between_0_and_1.
struct RateBetween0And1 {
  DropoutRate value;

  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval RateBetween0And1(double rate) noexcept : value(rate) {
    if (!value.is_valid()) must_lie_between_0_and_1();
    if (!value.is_as_written()) is_changed_by_fsingle_precision_constant();
  }
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr RateBetween0And1(const DropoutRate& rate) noexcept : value(rate) {}

  static void must_lie_between_0_and_1() noexcept {}
  static void is_changed_by_fsingle_precision_constant() noexcept {}
};

}  // namespace detail

// Copies m to `out`, and drops each element, which becomes +0, or keeps it, multiplied by 1 / (1 -
// rate). The rate is a constant expression or a DropoutRate; rates 0 and 1 draw no random numbers.
// `out` may be m; by value, the result is on the stack.
template <std::size_t... Extents, random_generator Generator, tensor_like... Out>
requires detail::at_most_one<Out...>
constexpr auto dropout(const Tensor<float, Extents...>& m, detail::RateBetween0And1 rate,
                       Generator& generator, Out&... out) noexcept {
  using Dropped = Tensor<float, Extents...>;
  return detail::into<Dropped>(
      [&]<class To>(To& to) {
        static_assert(detail::same_shape<To, Dropped> && !detail::has_gaps<To>,
                      "out must have the shape of m");
        auto stream = detail::random_stream(generator);
        for (std::size_t i = 0; i < m.size(); ++i) to.data()[i] = m.elements[i];
        on_native_port([&](auto port) {
          kernel::drop<decltype(port)>(to.data(), m.size(), m.size(), rate.value, stream);
        });
      },
      out...);
}

TINYATTN_DIAGNOSTIC(tensor_like First, dropout(const First&, ...),
                    "dropout takes (m, rate, generator) or (m, rate, generator, out): tensors of "
                    "float, no views; out is neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
