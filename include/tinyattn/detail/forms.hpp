// SPDX-License-Identifier: MIT
//
// The two forms of a function of tensors: f(m, out) writes its result, f(m) returns it, on the
// stack.
#pragma once

#include "tinyattn/shape.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

template <class... Out>
concept at_most_one = sizeof...(Out) <= 1;

// Calls write(out), or, without an `out`, write(result), and returns that.
template <class Result, class... Out>
TINYATTN_ALWAYS_INLINE constexpr auto into(const auto& write, Out&... out) noexcept {
  if constexpr (sizeof...(Out) != 0) {
    write(out...);
  } else {
    Result result;
    write(result);
    return result;
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
