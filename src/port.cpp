// SPDX-License-Identifier: MIT
//
// Is compiled once for each port, with the flags of its instruction set.
// -DTINYATTN_FLAGS=library_name puts its code in a namespace of its own, so that no program shares
// a function with it.
#include "port.hpp"
#include "primitive_operations.hpp"

#include <initializer_list>
#include <string_view>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

// Whether features.hpp lists the feature of each flag, so that choose.cpp asks the processor for
// it.
static consteval bool are_known(std::initializer_list<std::string_view> flags) {
  for (const std::string_view flag : flags) {
#define TINYATTN_IS_FLAG(name, macro) flag == "-m" name,
    if ((bits({TINYATTN_FEATURES(TINYATTN_IS_FLAG)}) & features_of_this_unit) == 0) return false;
#undef TINYATTN_IS_FLAG
  }
  return true;
}

static_assert(are_known({TINYATTN_ASKED}), "features.hpp lacks what a flag of this port asks for");

extern const Operations operations;
const Operations operations = [] {
  Operations all = native_operations;
  all.primitives = &native_primitives;
  return all;
}();

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
