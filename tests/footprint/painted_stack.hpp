// SPDX-License-Identifier: MIT
//
// How much stack one call takes.
#pragma once

namespace tinyattn::footprint {

// Makes the call and returns the bytes that it and all below it used at their deepest; 0 where nobody measures.
unsigned painted_stack(void (*call)());

}  // namespace tinyattn::footprint
