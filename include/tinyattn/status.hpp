// SPDX-License-Identifier: MIT
//
// The status that a call returns if it has to check its arguments at run time.
#pragma once

namespace tinyattn {

// The result of a call that takes a number of tokens, tokens, a text, or what lies in flash, which
// can be checked only at run time. After an error all outputs and caches are unchanged, but for the
// tokens of Tokenizer::encode.
enum class [[nodiscard]] Status{
    ok,               // outputs are written
    too_many_tokens,  // more than context_length, the rows of the input, or the room of a cache
    unknown_token,    // a token that is not below the vocabulary, or a character without a token
    no_tokens,        // 0 tokens, which have neither a mean nor a maximum
    no_model,         // no slot of the flash has a whole model
    wrong_model       // the whole model in the flash has another layout
};

}  // namespace tinyattn
