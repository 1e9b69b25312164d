// SPDX-License-Identifier: MIT
//
// Checks a range of numbers on all cores of this machine, and counts the wrong results.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include "support/check.hpp"

namespace tinyattn::test {

inline float from_bits(std::uint64_t bits) noexcept { return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits)); }

// Returns the bits of x; the same for every NaN, whose sign and payload are not promised.
inline std::uint32_t bits_of(float x) noexcept { return x != x ? 0x7fc00000u : __builtin_bit_cast(std::uint32_t, x); }

// Counts the operands and the wrong results, and keeps an example of the latter.
template <std::size_t Operands>
struct Mistakes {
  std::uint64_t checked = 0, count = 0;
  std::array<float, Operands> example = {};

  void note(const std::array<float, Operands>& operands, bool is_right) { *this += {1, !is_right, operands}; }

  Mistakes& operator+=(const Mistakes& other) {
    if (count == 0) example = other.example;
    checked += other.checked;
    count += other.count;
    return *this;
  }

  void check_none(Check& check) const {
    if (count != 0) {
      std::printf("# %" PRIu64 " mistakes, such as of", count);
      for (const float operand : example) std::printf(" %a", static_cast<double>(operand));
      std::printf("\n");
    }
    check.that(checked != 0 && count == 0);
  }
};

inline constexpr std::uint64_t all_floats = std::uint64_t{1} << 32;

// Calls check(report, first, last) for pieces of [0, count), each with its own report, and adds up the reports. The pieces are the same on
// every machine.
template <class Report>
Report in_parallel(std::uint64_t count, auto check) {
  const std::uint64_t piece = count / 1024;
  std::atomic<std::uint64_t> next = 0;
  std::mutex mutex;
  Report total;
  const auto work = [&] {
    for (std::uint64_t first; (first = next.fetch_add(piece)) < count;) {
      Report report;
      check(report, first, std::min(first + piece, count));
      const std::lock_guard lock(mutex);
      total += report;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return total;
}

}  // namespace tinyattn::test
