// SPDX-License-Identifier: MIT
//
// Token ids, and views of them.
#pragma once

#include "tinyattn/shape.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

// Most programs hold tokens in a std::span. <span> does not compile if the program defines min or
// max as a macro.
#if !defined(min) && !defined(max)
#include <span>
#endif

TINYATTN_BEGIN

namespace tinyattn {

// A token id: the index of a word, of a part of one, or of a character in its model's vocabulary.
using Token = std::uint16_t;

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// A view of contiguous tokens that it does not own: of a std::span, a Vector, or anything else that
// has data() and size().
class TokenView {
 public:
  // A view of no tokens.
  constexpr TokenView() noexcept = default;
  // A view of `size` tokens from `data` on. (A template, so that a literal 0 does not count as a
  // pointer.)
  template <std::convertible_to<const Token*> Pointer>
  constexpr TokenView(Pointer data, std::size_t size) noexcept : data_(data), size_(size) {}
  // A view of an array.
  template <std::size_t Size>
  constexpr TokenView(const Token (&tokens)[Size]) noexcept  // NOLINT(google-explicit-constructor)
      : data_(tokens), size_(Size) {}
  // A view of anything that has data() and size(), except a MatrixView with gaps between its rows.
  template <class Tokens>
  requires(!detail::has_gaps<Tokens>) && requires(const Tokens& tokens) {
    { tokens.data() } -> std::convertible_to<const Token*>;
    { tokens.size() } -> std::convertible_to<std::size_t>;
  }
  constexpr TokenView(const Tokens& tokens) noexcept  // NOLINT(google-explicit-constructor)
      : data_(tokens.data()), size_(tokens.size()) {}
  // Diagnoses braces, such as {1, 2}: the view would outlive these tokens.
  template <class View = TokenView>
  constexpr TokenView(std::initializer_list<Token>) noexcept {
    static_assert(detail::no_such_call<View>,
                  "a view of tokens is not made of braces: name the tokens first, as an array or "
                  "vector<Token>({...})");
  }
  // Diagnoses a null pointer, and columns of a matrix.
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

  // Returns a pointer to the first token.
  constexpr const Token* data() const noexcept { return data_; }
  // Returns the number of tokens.
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  const Token* data_ = nullptr;
  std::size_t size_ = 0;
};

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
