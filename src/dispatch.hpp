// SPDX-License-Identifier: MIT
//
// Which port computes: the only one of the library, or of several the one that it chooses at run
// time. on_port<&Operations::name> is the function that computes. It is constant if there is one
// port, so that a firmware contains no table, only the functions that it calls.
#pragma once

#include "operations.hpp"

#ifdef TINYATTN_PORTS

namespace tinyattn::compiled {

// Returns the operations of the port that the environment variable TINYATTN_PORT names, or of the
// best that this processor can run.
const Operations& chosen_operations() noexcept;

template <auto operation, class Table, class Result, class... Arguments>
constexpr auto call_chosen(Result (*Table::*)(Arguments...) noexcept) noexcept {
  return +[](Arguments... arguments) noexcept -> Result {
    return (static_cast<const Table&>(chosen_operations()).*operation)(arguments...);
  };
}
template <auto operation>
inline constexpr auto on_port = call_chosen<operation>(operation);

inline const char* name_of_port() noexcept { return chosen_operations().port; }

}  // namespace tinyattn::compiled

#else

#include "port.hpp"

namespace tinyattn::compiled {

template <auto operation>
inline constexpr auto on_port = library::native_operations.*operation;

inline const char* name_of_port() noexcept { return library::native_operations.port; }

}  // namespace tinyattn::compiled

#endif
