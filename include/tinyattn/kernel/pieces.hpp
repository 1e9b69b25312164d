// SPDX-License-Identifier: MIT
//
// The pieces of a vocabulary: their bytes, their order, and the two pieces that each merged one is
// made of.
#pragma once

#include "tinyattn/kernel/utf8.hpp"

#include <cstddef>
#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The tokens that are merged into another. A token that is never merged consists of itself.
struct Split {
  std::uint16_t left, right;
};

struct Bytes {
  const char* data;
  std::size_t size;
};

// Some of the sorted pieces: those from begin up to end.
struct Range {
  std::size_t begin, end;
  constexpr bool empty() const noexcept { return begin == end; }
};

// Views of tables in flash. A place is the position of a piece in the text, and its length in the
// lowest bits.
template <class Place>
struct Pieces {
  const char* text;
  const Place* places;
  unsigned length_bits;
  const std::uint16_t* sorted;  // tokens, in the order of their bytes
  std::size_t count;            // of sorted
  const Split* splits;          // of the tokens first_merge, first_merge + 1, ...
  std::size_t first_merge, num_merges;
  const std::uint16_t* ranks;  // the order of merges; null if it is that of tokens

  constexpr std::size_t size(std::size_t token) const noexcept {
    return places[token] & ((std::size_t{1} << length_bits) - 1);
  }
  constexpr Bytes piece(std::size_t token) const noexcept {
    return {text + (places[token] >> length_bits), size(token)};
  }
  constexpr bool is_merged(std::size_t token) const noexcept {
    return token - first_merge < num_merges && splits[token - first_merge].left != token;
  }
  constexpr Split split(std::size_t token) const noexcept { return splits[token - first_merge]; }
  // Returns the place of a token in the order of merges, from 1 on, or 0 if it is not merged.
  constexpr std::size_t rank(std::size_t token) const noexcept {
    if (!is_merged(token)) return 0;
    const std::size_t merge = token - first_merge;
    return 1 + (ranks == nullptr ? merge : ranks[merge]);
  }

  // Returns the first in a range of sorted pieces that have `depth` bytes in common and whose next
  // byte is `byte` or a later one.
  constexpr std::size_t lower_bound(Range range, std::size_t depth, unsigned byte) const noexcept {
    while (!range.empty()) {
      const std::size_t middle = (range.begin + range.end) / 2;
      const Bytes bytes = piece(sorted[middle]);
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
    return !range.empty() && size(sorted[range.begin]) == depth;
  }

  // Compares a piece with a pair of them: -1, 0 or 1.
  constexpr int compare(Bytes whole, Bytes left, Bytes right) const noexcept {
    for (std::size_t i = 0; i < left.size + right.size; ++i) {
      if (i == whole.size) return -1;
      const std::uint8_t a = byte_at(whole.data + i),
                         b = byte_at(i < left.size ? left.data + i : right.data + (i - left.size));
      if (a != b) return a < b ? -1 : 1;
    }
    return whole.size > left.size + right.size;
  }
  // Returns the rank of the token that a pair of tokens is merged into, or 0 if it is not merged.
  constexpr std::size_t rank_of_pair(std::uint16_t left, std::uint16_t right) const noexcept {
    const Bytes left_bytes = piece(left), right_bytes = piece(right);
    if ((left_bytes.size + right_bytes.size) >> length_bits != 0) return 0;
    for (Range range{0, count}; !range.empty();) {
      const std::size_t middle = (range.begin + range.end) / 2;
      const std::uint16_t token = sorted[middle];
      const int order = compare(piece(token), left_bytes, right_bytes);
      if (order == 0) {
        if (!is_merged(token)) return 0;
        const Split parts = split(token);
        return parts.left == left && parts.right == right ? rank(token) : 0;
      }
      (order < 0 ? range.begin : range.end) = middle + (order < 0);
    }
    return 0;
  }
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
