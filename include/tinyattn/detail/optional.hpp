// SPDX-License-Identifier: MIT
//
// Members that a module has only if its configuration asks for them.
#pragma once

#include "tinyattn/port/found.hpp"

#include <type_traits>
#include <utility>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Replaces an absent member, and takes no space. Each absent type has a Nothing of its own, since
// two empty members of the same type could not share an address.
template <class Absent>
struct Nothing {
  friend constexpr bool operator==(const Nothing&, const Nothing&) = default;

  // Returns the member as kernels take it, with null pointers.
  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Nothing&) noexcept {
    return decltype(describe(std::declval<const Absent&>())){};
  }
};

template <bool Present, class Member>
using Optional = std::conditional_t<Present, Member, Nothing<Member>>;

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
