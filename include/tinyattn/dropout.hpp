// SPDX-License-Identifier: MIT
//
// Dropout: Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", 2014, in
// the inverted form of PyTorch, in which what is kept is scaled by 1 / (1 - rate).
#pragma once

#include "tinyattn/math.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>
#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn {

// The share of elements that a dropout drops. Made from a constant, so that its thresholds are integers
// before the program runs: no double reaches the firmware. A rate outside [0, 1] does not compile.
class DropoutRate {
 public:
  consteval DropoutRate(double rate) noexcept  // NOLINT(google-explicit-constructor): a rate is written as a number
      : keep_below_2_53_(threshold(rate, 0x1p53)),
        keep_below_2_32_(threshold(rate, 0x1p32)),
        scale_(rate < 1.0 ? 1.0f / static_cast<float>(1.0 - rate) : 0.0f),
        drops_none_(rate == 0.0),
        drops_all_(rate == 1.0) {
    if (!(rate >= 0.0 && rate <= 1.0)) must_lie_between_0_and_1();
  }

  constexpr bool drops_none() const noexcept { return drops_none_; }
  constexpr bool drops_all() const noexcept { return drops_all_; }
  constexpr float scale() const noexcept { return scale_; }

  // Whether the next element is kept: torch's CPU generator compares 53 bits of two words, the first one high;
  // Philox one word an element.
  constexpr bool keeps(detail::MtWords& words) const noexcept {
    const std::uint64_t high = words.next();
    const std::uint64_t low = words.next();
    return (((high << 32) | low) & ((std::uint64_t{1} << 53) - 1)) < keep_below_2_53_;
  }
  constexpr bool keeps(detail::PhiloxWords& words) const noexcept { return words.next() < keep_below_2_32_; }

 private:
  // Not constexpr: a compiler that comes here stops, and its message names the function.
  static void must_lie_between_0_and_1() noexcept {}

  // ceil((1 - rate) * range)
  static consteval std::uint64_t threshold(double rate, double range) noexcept {
    const double exact = (rate >= 0.0 && rate <= 1.0 ? 1.0 - rate : 0.0) * range;
    const auto whole = static_cast<std::uint64_t>(exact);
    return static_cast<double>(whole) < exact ? whole + 1 : whole;
  }

  std::uint64_t keep_below_2_53_;
  std::uint64_t keep_below_2_32_;
  float scale_;
  bool drops_none_;
  bool drops_all_;
};

inline namespace TINYATTN_PORT_NAMESPACE {

namespace kernel {

// The next `drawn` elements of a call of dropout, of which the first `count` lie in `elements`: each is dropped,
// that is +0, or kept and scaled. Rates 0 and 1 draw nothing.
template <class Port>
constexpr void drop(float* elements, std::size_t count, std::size_t drawn, const DropoutRate& rate, auto& words) noexcept {
  if (rate.drops_none()) return;
  for (std::size_t j = 0; j < drawn; ++j) {
    const bool kept = !rate.drops_all() && rate.keeps(words);
    if (j < count) elements[j] = kept ? Port::one_lane::mul(elements[j], rate.scale()) : 0.0f;
  }
}

}  // namespace kernel

// m with each element dropped, that is +0, or kept and multiplied by 1 / (1 - rate). The rate is a number that
// the compiler knows; rates 0 and 1 draw nothing.
template <std::size_t... Extents, random_generator Generator>
constexpr Tensor<float, Extents...> dropout(const Tensor<float, Extents...>& m, DropoutRate rate, Generator& generator) noexcept {
  auto words = detail::words(generator);
  Tensor<float, Extents...> out = m;
  on_native_port([&](auto port) { kernel::drop<decltype(port)>(out.data(), out.size(), out.size(), rate, words); });
  return out;
}

}  // namespace TINYATTN_PORT_NAMESPACE

}  // namespace tinyattn

TINYATTN_END
