// SPDX-License-Identifier: MIT
//
// A tokenizer for C, made of a constant that the exporter wrote. Not part of tinyattn.hpp.
#pragma once

#include "tinyattn/status.hpp"
#include "tinyattn/tinyattn_models.h"
#include "tinyattn/token.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// The functions of a tinyattn_tokenizer.
template <const auto& tokenizer>
struct TokenizerForC {
  static tinyattn_status encode(const char* text, std::size_t size, Token* tokens, std::size_t room,
                                std::size_t* count) noexcept {
    const bool has_text = size == 0 || text != nullptr;
    if (!has_text || tokens == nullptr || count == nullptr) return TINYATTN_BAD_ARGUMENT;
    const Status status = tokenizer.encode(std::string_view(text, size), {tokens, room}, *count);
    if (status == Status::unknown_token) return TINYATTN_UNKNOWN_TOKEN;
    return status == Status::ok ? TINYATTN_OK : TINYATTN_TOO_MANY_TOKENS;
  }

  static const char* piece(Token token, std::size_t* size) noexcept {
    const std::string_view bytes = tokenizer.piece(token);
    *size = bytes.size();
    return bytes.data();
  }
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// A tokenizer of the exporter for C, in one unit of C++:
//
//   extern "C" const tinyattn_tokenizer story = tinyattn::tokenizer_for_c<weights::tokenizer>;
//
// and in C `extern const tinyattn_tokenizer story;`.
template <const auto& tokenizer>
inline constexpr tinyattn_tokenizer tokenizer_for_c = {tokenizer.vocabulary,
                                                       detail::TokenizerForC<tokenizer>::encode,
                                                       detail::TokenizerForC<tokenizer>::piece};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE
