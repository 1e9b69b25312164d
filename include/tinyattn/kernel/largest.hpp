// SPDX-License-Identifier: MIT
//
// The largest elements of a row: one, or a few.
#pragma once

#include "tinyattn/kernel/softmax_row.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Ranks are integers in the order of the floats from -infinity to infinity; both zeros have the
// same. The rank of a NaN is below lowest_rank or above highest_rank. Without an FPU a function
// would compare floats.
constexpr std::uint32_t rank_of(float x) noexcept {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  constexpr std::uint32_t sign = 0x80000000u;
  return (bits & sign) != 0 ? 0u - bits : sign + bits;
}
constexpr float of_rank(std::uint32_t rank) noexcept {
  constexpr std::uint32_t sign = 0x80000000u;
  return __builtin_bit_cast(float, (rank & sign) != 0 ? rank - sign : 0u - rank);
}
constexpr bool is_one(float x) noexcept { return rank_of(x) == rank_of(1.0f); }
inline constexpr std::uint32_t lowest_rank = rank_of(-infinity), highest_rank = rank_of(infinity);

// Returns the index of the largest element, the first of several; a NaN counts as -infinity.
[[gnu::noinline]] constexpr std::size_t index_of_largest(const float* x,
                                                         std::size_t count) noexcept {
  std::size_t index = 0;
  std::uint32_t largest = lowest_rank;
  for (std::size_t i = 0; i < count; ++i)
    if (const std::uint32_t rank = rank_of(x[i]); largest < rank && rank <= highest_rank) {
      largest = rank;
      index = i;
    }
  return index;
}

// The few largest of many elements, of equal ones the first, in the order of their indices. They
// take 524 bytes of stack.
class Few {
 public:
  static constexpr std::size_t most = 64;

  // Finds up to `wanted` of x[i] / divisor, none of which is -infinity or a NaN. Finds none if one
  // is infinity.
  template <class Single>
  [[gnu::noinline]] constexpr void find(const float* x, std::size_t count, std::size_t wanted,
                                        float divisor) noexcept {
    size_ = 0;
    std::uint32_t bound = lowest_rank;       // of x: what is not above it is none of the largest
    std::int32_t bits_of_above = INT32_MIN;  // an element of lesser bits is not above the bound
    for (const float* next = x; next != x + count;) {
      const float element = *next++;
      if (__builtin_bit_cast(std::int32_t, element) < bits_of_above) [[likely]]
        continue;
      std::uint32_t rank = rank_of(element);
      if (rank <= bound) [[likely]]
        continue;
      if (!is_one(divisor) && rank <= highest_rank)
        rank = rank_of(quotient<Single>(element, divisor));
      if (rank >= highest_rank) [[unlikely]] {
        if (rank == highest_rank) return clear();
        continue;
      }
      const bool is_full = size_ == wanted;
      if (rank <= (is_full ? entries_[0].rank : lowest_rank)) continue;
      entries_[is_full ? 0 : size_++].set({rank, static_cast<std::uint32_t>(next - x - 1)});
      if (size_ != wanted) continue;
      is_full ? sink(0) : make_heap();
      bound = rank_of(x[entries_[0].index]);
      const auto bits = __builtin_bit_cast(std::int32_t, x[entries_[0].index]);
      bits_of_above = bits < 0 ? INT32_MIN : bits + 1;
    }
    sort<6>();
    sort<1>();
  }

  constexpr void clear() noexcept { size_ = 0; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr std::size_t index(std::size_t i) const noexcept { return entries_[i].index; }
  constexpr float value(std::size_t i) const noexcept { return of_rank(entries_[i].rank); }

  // Writes the elements to the front of x.
  constexpr void gather(float* x) const noexcept {
    for (std::size_t i = 0; i < size_; ++i) x[i] = value(i);
  }

  // Moves the elements from the front of x to their places; the others become 0.
  constexpr void scatter(float* x, std::size_t count) const noexcept {
    for (std::size_t i = size_; i < count; ++i) x[i] = 0.0f;
    for (std::size_t i = size_; i-- != 0;) {
      const float moved = x[i];
      x[i] = 0.0f;
      x[index(i)] = moved;
    }
  }

  // Adds the elements, at the front of x, in the lanes in which the sum of all would add them.
  template <class Single>
  constexpr void add_in_lanes(const float* x, float (&lanes)[16]) const noexcept {
    for (float& lane : lanes) lane = 0.0f;
    for (std::size_t i = 0; i < size_; ++i) {
      float& lane = lanes[index(i) % 16];
      lane = Single::add(lane, x[i]);
    }
  }

 private:
  struct Entry {
    std::uint32_t rank, index;
    // Moves one number after the other: for both at once, GCC stores and loads several registers.
    constexpr void set(const Entry& other) noexcept {
      rank = other.rank;
      index = other.index;
    }
    // Of equal elements the last is the least.
    constexpr bool operator<(const Entry& other) const noexcept {
      return rank < other.rank || (rank == other.rank && index > other.index);
    }
  };

  // Exchanges an entry with the lesser of the two below it, as long as that is less.
  [[gnu::noinline]] constexpr void sink(std::size_t top) noexcept {
    Entry* at = entries_ + top;
    const Entry entry = *at;
    for (std::size_t child = 2 * top + 1; child < size_; child = 2 * child + 1) {
      Entry* below = entries_ + child;
      if (below[1] < below[0]) {
        ++below;
        ++child;
      }
      if (!(*below < entry)) break;
      at->set(*below);
      at = below;
    }
    at->set(entry);
  }

  // Brings the least to the top. Behind the last entry is one that is not less than any.
  constexpr void make_heap() noexcept {
    entries_[size_].rank = 0xffffffffu;
    for (std::size_t top = (size_ + 1) / 2; top-- != 0;) sink(top);
  }

  // Sorts entries that are `By` places apart by their indices, each by insertion: after 6, sorting
  // by 1 moves few of them far.
  template <std::ptrdiff_t By>
  constexpr void sort() noexcept {
    for (Entry* next = entries_ + By; next < entries_ + size_; ++next) {
      const Entry entry = *next;
      Entry* at = next;
      for (; at >= entries_ + By && at[-By].index > entry.index; at -= By) at->set(at[-By]);
      at->set(entry);
    }
  }

  std::size_t size_ = 0;
  Entry entries_[most + 1];
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
