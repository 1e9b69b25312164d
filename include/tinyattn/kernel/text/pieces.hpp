// SPDX-License-Identifier: MIT
//
// The pieces of a vocabulary: their bytes, their order, and what each is merged from.
#pragma once

#include "tinyattn/kernel/text/utf8.hpp"

#include <cstddef>
#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

constexpr std::uint16_t no_token = 0xffff;

struct Bytes {
  const char* data;
  std::size_t size;
};

// Some of the sorted pieces: those from begin up to end.
struct Range {
  std::size_t begin, end;
  constexpr bool empty() const noexcept { return begin == end; }
};

// The pieces in the tables of a Tokenizer, whose `sizes` is a constant. A place is the position of
// a piece in the text, and its length in the lowest bits. A token that is merged has a left part
// and, for the rest of its bytes, a right one; what is not merged is its own left part.
template <class Tokenizer>
struct Pieces {
  const Tokenizer& tables;

  static constexpr auto sizes = Tokenizer::sizes;
  static constexpr Range all{0, sizes.num_pieces};

  constexpr std::uint16_t token(std::size_t i) const noexcept { return tables.sorted[i]; }
  constexpr std::size_t size(std::size_t token) const noexcept {
    return tables.places[token] & ((std::size_t{1} << Tokenizer::length_bits) - 1);
  }
  constexpr Bytes piece(std::size_t token) const noexcept {
    return {tables.text + (tables.places[token] >> Tokenizer::length_bits), size(token)};
  }

  constexpr std::uint16_t left(std::uint16_t token) const noexcept {
    const std::size_t merge = token - sizes.first_merge;
    return merge < sizes.num_merges ? tables.lefts[merge] : token;
  }
  constexpr std::uint16_t right(std::uint16_t token) const noexcept {
    const std::size_t size_of_left = size(left(token));
    const Bytes bytes = piece(token);
    return find({bytes.data + size_of_left, bytes.size - size_of_left}, {nullptr, 0});
  }
  // Returns the place of a token in the order of merges, from 1 on, or 0 if it is not merged.
  [[gnu::noinline]] constexpr std::size_t rank(std::uint16_t token) const noexcept {
    if (left(token) == token) return 0;
    const std::size_t merge = token - sizes.first_merge;
    if constexpr (sizes.has_ranks)
      return 1 + tables.ranks[merge];
    else
      return 1 + merge;
  }

  // Returns the first in a range of sorted pieces that have `depth` bytes in common and whose next
  // byte is `byte` or a later one.
  [[gnu::noinline]] constexpr std::size_t lower_bound(Range range, std::size_t depth,
                                                      unsigned byte) const noexcept {
    while (!range.empty()) {
      const std::size_t middle = (range.begin + range.end) / 2;
      const Bytes bytes = piece(tables.sorted[middle]);
      if (bytes.size <= depth || byte_at(bytes.data + depth) < byte)
        range.begin = middle + 1;
      else
        range.end = middle;
    }
    return range.begin;
  }
  // Returns those in such a range whose next byte is `byte`.
  constexpr Range narrowed(Range range, std::size_t depth, std::uint8_t byte) const noexcept {
    const std::size_t begin = lower_bound(range, depth, byte);
    return {begin, lower_bound({begin, range.end}, depth, byte + 1u)};
  }
  // Returns those in a range that begin with some bytes, after the `depth` that are in common.
  constexpr Range narrowed(Range range, std::size_t depth, Bytes bytes) const noexcept {
    for (std::size_t i = 0; i < bytes.size && !range.empty(); ++i)
      range = narrowed(range, depth + i, byte_at(bytes.data + i));
    return range;
  }
  // Whether the first piece of a range ends after `depth` bytes: then it is what the range begins
  // with.
  constexpr bool ends_at(Range range, std::size_t depth) const noexcept {
    return !range.empty() && size(tables.sorted[range.begin]) == depth;
  }

  // Compares a piece with two parts: -1, 0 or 1.
  static constexpr int compare(Bytes whole, Bytes first, Bytes second) noexcept {
    for (std::size_t i = 0; i < first.size + second.size; ++i) {
      if (i == whole.size) return -1;
      const std::uint8_t a = byte_at(whole.data + i),
                         b = byte_at(i < first.size ? first.data + i
                                                    : second.data + (i - first.size));
      if (a != b) return a < b ? -1 : 1;
    }
    return whole.size > first.size + second.size;
  }
  // Returns the token whose piece consists of two parts, or no_token.
  [[gnu::noinline]] constexpr std::uint16_t find(Bytes first, Bytes second) const noexcept {
    for (Range range = all; !range.empty();) {
      const std::size_t middle = (range.begin + range.end) / 2;
      const int order = compare(piece(tables.sorted[middle]), first, second);
      if (order == 0) return tables.sorted[middle];
      (order < 0 ? range.begin : range.end) = middle + (order < 0);
    }
    return no_token;
  }
  // Returns the rank of the token that a pair of tokens is merged into, or 0 if it is not merged.
  constexpr std::size_t rank_of_pair(std::uint16_t first, std::uint16_t second) const noexcept {
    const std::uint16_t token = find(piece(first), piece(second));
    return token != no_token && left(token) == first ? rank(token) : 0;
  }
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
