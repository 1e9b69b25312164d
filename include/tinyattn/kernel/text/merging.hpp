// SPDX-License-Identifier: MIT
//
// Byte pair encoding: of all pairs of neighbours in a text that have a piece, that of the lowest
// rank is merged first, of several the leftmost. Here nothing is merged: the last token of each
// beginning of the text is computed from those of shorter ones. So the time grows with the length
// of the text alone, and the only memory is one slot for each symbol.
//
// Why this gives the same tokens: no merge crosses the border between two tokens of the result, so
// each beginning of the result is the result of its own text. And a sequence is the result of its
// text if each pair of neighbours is, because a merge that crosses a border is the best of the
// whole text only if it is the best of the two tokens there.
#pragma once

#include "tinyattn/kernel/text/pieces.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Whether two tokens stay apart if their text is encoded. Goes back in time, from the merge that
// made one of them last, and looks whether a pair at their border would have been merged earlier.
// The rank of a token is not below those of its parts.
template <class Tokenizer>
constexpr bool stay_apart(const Pieces<Tokenizer>& pieces, std::uint16_t left,
                          std::uint16_t right) noexcept {
  std::size_t limit = ~std::size_t{0};  // a pair of this rank or a later one comes too late
  while (true) {
    const std::size_t across = pieces.rank_of_pair(left, right);
    if (across != 0 && across < limit) return false;
    const std::size_t of_left = pieces.rank(left), of_right = pieces.rank(right);
    if (of_left == 0 && of_right == 0) return true;
    if (of_left > of_right) {
      limit = of_left;
      left = pieces.right(left);
    } else {  // of equal merges the left one comes first, so the right token was made last
      limit = of_right + 1;
      right = pieces.left(right);
    }
  }
}

// The tokens of one part of a text: slots[i] is the last one of the first i + 1 symbols. Symbols
// are what is merged first: characters, or bytes.
template <class Tokenizer>
struct Merging {
  const Pieces<Tokenizer>& pieces;
  std::uint16_t* slots;
  std::size_t room;        // of the slots
  std::size_t count = 0;   // the symbols so far
  std::size_t filled = 0;  // the slots that are known, or no_token
  bool has_room = true;

  // Takes the next symbol: finds the tokens that begin with it, and where each would be the last.
  // Returns false if no piece is the symbol itself.
  template <class Reader>
  constexpr bool take(const Reader& reader) noexcept {
    Range range = pieces.all;
    bool is_known = false;
    std::size_t depth = 0, last = count;
    for (Reader ahead = reader; !ahead.at_end() && has_room; ahead.advance(), ++last) {
      const Bytes symbol = ahead.symbol();
      range = pieces.narrowed(range, depth, symbol);
      if (range.empty()) break;
      depth += symbol.size;
      if (pieces.ends_at(range, depth)) put(last, pieces.token(range.begin));
      if (last == count) is_known = pieces.ends_at(range, depth);
      if (!is_known) return false;
    }
    count += is_known;
    return is_known;
  }

  constexpr void put(std::size_t last, std::uint16_t token) noexcept {
    has_room = last < room;
    if (!has_room) return;
    while (filled <= last) slots[filled++] = no_token;
    if (slots[last] == no_token && (count == 0 || stay_apart(pieces, slots[count - 1], token)))
      slots[last] = token;
  }

  // Puts the tokens into the first slots. Returns how many there are.
  template <class CountSymbols>
  [[gnu::noinline]] constexpr std::size_t finish(const CountSymbols& count_symbols) noexcept {
    std::size_t first = count;
    for (std::size_t rest = count; rest != 0;) {
      const std::uint16_t token = slots[rest - 1];
      rest -= count_symbols(pieces.piece(token));
      slots[--first] = token;
    }
    const std::size_t tokens = count - first;
    for (std::size_t i = 0; i < tokens; ++i) slots[i] = slots[first + i];
    count = filled = 0;
    return tokens;
  }
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
