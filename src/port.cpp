// SPDX-License-Identifier: MIT
//
// Compiled for each port, with the flags of its instruction set. -DTINYATTN_FLAGS=library_name puts
// all of it in a namespace of its own, so that no program shares a function with it.
#include "port.hpp"
#include "models_port.hpp"

#include <initializer_list>
#include <string_view>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

// What each flag asks for is among the features that are looked for in a processor.
static consteval bool are_known(std::initializer_list<std::string_view> flags) {
  for (const std::string_view flag : flags) {
#define TINYATTN_IS_FLAG(name, macro) flag == "-m" name,
    if ((bits({TINYATTN_FEATURES(TINYATTN_IS_FLAG)}) & features_of_this_unit) == 0) return false;
#undef TINYATTN_IS_FLAG
  }
  return true;
}

static_assert(are_known({TINYATTN_ASKED}), "features.hpp lacks what a flag of this port asks for");

static constexpr Operations with_models() {
  Operations all = native_operations;
  all.models = &native_model_operations;
  return all;
}

extern const Operations operations;
const Operations operations = with_models();

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
