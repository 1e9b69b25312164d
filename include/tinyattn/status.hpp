// SPDX-License-Identifier: MIT
//
// What a call returns whose arguments only a running program knows.
#pragma once

namespace tinyattn {

// Some calls take a number of tokens, or tokens themselves. Whether these are right is known only
// when the program runs, and such a call returns it. After an error all outputs and caches are as
// they were.
enum class [[nodiscard]] Status{
    ok,               // outputs are written
    too_many_tokens,  // more than context_length, the rows of the input, or the room of a cache
    unknown_token     // one that is not below the vocabulary
};

}  // namespace tinyattn
