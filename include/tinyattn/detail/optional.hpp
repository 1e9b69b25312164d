// SPDX-License-Identifier: MIT
//
// Members that a module has only if its configuration asks for them, and arrays that may be empty.
#pragma once

#include "tinyattn/port/found.hpp"

#include <cstddef>
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

// An array of a size that may be 0.
template <class Element, std::size_t Size>
struct Table {
  Element elements[Size];
  constexpr Element operator[](std::size_t i) const noexcept { return elements[i]; }
  TINYATTN_ALWAYS_INLINE constexpr Element* data() noexcept { return elements; }
};
template <class Element>
struct Table<Element, 0> {
  constexpr Element operator[](std::size_t) const noexcept { return {}; }
  TINYATTN_ALWAYS_INLINE constexpr Element* data() noexcept { return nullptr; }
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
