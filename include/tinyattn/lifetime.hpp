// SPDX-License-Identifier: MIT
//
// Workspaces whose parts share memory, since no two of them are used at the same time.
#pragma once

#include "tinyattn/port/found.hpp"

#include <memory>
#include <new>

namespace tinyattn {

// Begins the lifetime of a member of a union, and returns the member; that of the one that was used
// before ends. In a constant expression only the member whose lifetime began last may be used, and
// its elements are zeros; else they are what lies there, and for a type without a constructor of
// its own, such as a tensor or the workspace of a layer, no code is generated.
//
//   struct Workspace {
//     union {
//       Matrix<float, 32, 16> hidden;
//       Layer::Workspace layer;
//     };
//   };
//   layer.forward(x, x, begin_lifetime(workspace.layer));
//   auto& hidden = begin_lifetime(workspace.hidden);
template <class Member>
TINYATTN_ALWAYS_INLINE constexpr Member& begin_lifetime(Member& member) noexcept {
  if (__builtin_is_constant_evaluated()) return *std::construct_at(__builtin_addressof(member));
  return *::new (static_cast<void*>(__builtin_addressof(member))) Member;
}

}  // namespace tinyattn
