// SPDX-License-Identifier: MIT
//
// Tokens: the numbers of words, or of characters.
#pragma once

#include "tinyattn/shape.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

// std::span is how most programs hold them. Some of those define these names, with which <span>
// does not compile.
#if !defined(min) && !defined(max)
#include <span>
#endif

TINYATTN_BEGIN

namespace tinyattn {

// The number of a word or a character, below the vocabulary of its model.
using Token = std::uint16_t;

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Tokens that lie one after the other, and are somebody else's: of a std::span, a Vector, or
// whatever else has data() and size().
class TokenView {
 public:
  // None.
  constexpr TokenView() noexcept = default;
  // `size` tokens, where data points. (A template, so that a literal 0 is no pointer.)
  template <std::convertible_to<const Token*> Pointer>
  constexpr TokenView(Pointer data, std::size_t size) noexcept : data_(data), size_(size) {}
  // All of an array.
  template <std::size_t Size>
  constexpr TokenView(const Token (&tokens)[Size]) noexcept  // NOLINT(google-explicit-constructor)
      : data_(tokens), size_(Size) {}
  // All of whatever has data() and size(), but of no view whose rows lie apart.
  template <class Tokens>
  requires(!detail::has_gaps<Tokens>) && requires(const Tokens& tokens) {
    { tokens.data() } -> std::convertible_to<const Token*>;
    { tokens.size() } -> std::convertible_to<std::size_t>;
  }
  constexpr TokenView(const Tokens& tokens) noexcept  // NOLINT(google-explicit-constructor)
      : data_(tokens.data()), size_(tokens.size()) {}
  // Not of {1, 2}: a view of it could be read when it is gone.
  template <class View = TokenView>
  constexpr TokenView(std::initializer_list<Token>) noexcept {
    static_assert(detail::no_such_call<View>,
                  "a view of tokens is not made of braces: name the tokens first, as an array or "
                  "vector<Token>({...})");
  }
  // Nor of a null pointer, nor of columns of a matrix.
  template <class View = TokenView>
  constexpr TokenView(std::nullptr_t, std::size_t) noexcept {
    static_assert(detail::no_such_call<View>, "at a null pointer are no tokens: TokenView{}");
  }
  template <class Tokens>
  requires detail::has_gaps<Tokens>
  explicit constexpr TokenView(const Tokens&) noexcept {
    static_assert(
        detail::no_such_call<Tokens>,
        "a view of tokens has no gaps: the rows of this matrix do not follow one another");
  }

  // The first of them.
  constexpr const Token* data() const noexcept { return data_; }
  // How many.
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  const Token* data_ = nullptr;
  std::size_t size_ = 0;
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
