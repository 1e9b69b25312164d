// SPDX-License-Identifier: MIT
//
// Compiled once for each port, with the flags of its instruction set, -DTINYATTN_PORT=name and -DTINYATTN_FLAGS=library_name. All that
// comes of it is in a namespace of its own, so that no program shares a function with it; tests/compiled looks at the symbols.
#include "port.hpp"

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::library {

extern const compiled::Operations operations;
const compiled::Operations operations = native_operations;

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::library
