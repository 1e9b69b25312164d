// SPDX-License-Identifier: MIT
//
// Checks of the rate of a dropout.
#pragma once

#include "tinyattn/port/found.hpp"

#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

consteval bool is_rate(double rate) noexcept { return rate >= double{0} && rate <= double{1}; }

// Whether a rate is the double that was written. With -fsingle-precision-constant the literal 0.1
// is a float, and so another rate than elsewhere; a rate with at most twelve binary places, such as
// 0.5 or 0.125, is the same.
consteval bool is_as_written(double rate) noexcept {
  if (sizeof(0.1) == sizeof(double) || !is_rate(rate)) return true;
  const double steps = rate * double{4096};
  return steps == static_cast<double>(static_cast<std::int32_t>(steps));
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
