// SPDX-License-Identifier: MIT
//
// Compiled once for each port, with the flags of its instruction set and -DTINYATTN_PORT=name. All that comes of it is in the port's
// own namespace, so that no program shares a function with it; tests/compiled looks at the symbols.
#include "port.hpp"

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::library {

extern const compiled::Operations operations;
const compiled::Operations operations = native_operations;

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::library
