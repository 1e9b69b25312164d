// SPDX-License-Identifier: MIT
//
// Members that a module has only if its configuration asks for them.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <type_traits>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Takes the place of a member that is absent, and no room. Each has its own type: two empty members
// of one type could not share an address.
template <class Absent>
struct Nothing {
  friend constexpr bool operator==(const Nothing&, const Nothing&) = default;

  // As kernels see it: all pointers are null.
  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Nothing&) noexcept {
    return decltype(describe(std::declval<const Absent&>())){};
  }
};

template <bool Present, class Member>
using Optional = std::conditional_t<Present, Member, Nothing<Member>>;

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
