// SPDX-License-Identifier: MIT
//
// Random calls of the compiled library. Half of them are valid. The others are wild: arrays may be missing, and a size may be 0 or as large
// as std::size_t holds. A call whose arguments make sense gets its arrays between protected pages, and must write every bit that plain
// loops write. Any other call must return an error at once: its arrays are where any access crashes.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <vector>

#include "catalogue/guarded.hpp"
#include "catalogue/plain.hpp"
#include "tinyattn/tinyattn.h"

namespace tinyattn::test {

using Numbers = std::vector<float>;

// An array argument, which may be missing.
struct Matrix {
  std::size_t rows, cols;
  Numbers elements = Numbers(rows * cols);
  bool is_there = true;

  plain::Input view() const { return {is_there ? elements.data() : nullptr, rows, cols, cols}; }
  plain::Output view() { return {elements.data(), rows, cols, cols}; }
};

inline const Matrix absent{0, 0, {}, false};

// A generator with the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u) {}

  std::uint32_t below(std::uint32_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>((state_ >> 33) % bound);
  }
  bool one_in(std::uint32_t count) { return below(count) == 0; }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<std::uint32_t>(choices.size()))];
  }

 private:
  std::uint64_t state_;
};

// The number of floats that can be addressed.
inline constexpr std::size_t most = PTRDIFF_MAX / sizeof(float);

// Sums and products that saturate at the largest size instead of overflowing.
constexpr std::size_t plus(std::size_t a, std::size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }
constexpr std::size_t times(std::size_t a, std::size_t b) { return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b; }

// Returns a size that is small, near a multiple of vectors, tiles or blocks, or anything up to 70.
inline std::size_t sound_size(Random& random) {
  if (random.one_in(3)) return 1 + random.below(8);
  if (random.one_in(2)) return random.one_of({4u, 8u, 16u, 32u, 48u, 64u, 96u}) + random.below(3) - 1;
  return 1 + random.below(70);
}

// Returns a size that is mostly small; otherwise 0, near a power of two, or near a limit of what can be addressed. It may overflow, since
// every size is allowed here.
inline std::size_t wild_size(Random& random) {
  if (!random.one_in(10)) return 1 + random.below(8);
  const std::size_t power = std::size_t{1} << random.below(std::numeric_limits<std::size_t>::digits);
  const std::size_t base =
      random.one_of({std::size_t{0}, power, most, most / 2, most / 4, most / 16, most / 7, std::size_t{PTRDIFF_MAX}, SIZE_MAX});
  return random.one_in(3) ? base : base + random.below(5) - 2;
}

// Random numbers of a magnitude between 2^-7 and 2, with random mantissas: no result is subnormal. In some arrays a few elements are
// special values, such as NaN.
inline Numbers draw_numbers(Random& random, std::size_t count) {
  constexpr float largest = std::numeric_limits<float>::max(), nan = std::numeric_limits<float>::quiet_NaN();
  Numbers numbers(count);
  for (float& number : numbers) {
    const float magnitude = std::ldexp(static_cast<float>(0x800000u + random.below(0x800000u)), -23 - static_cast<int>(random.below(8)));
    number = random.one_in(2) ? magnitude : -magnitude;
  }
  if (random.one_in(4))
    for (std::size_t left = 1 + random.below(4); left != 0; --left)
      numbers[random.below(static_cast<std::uint32_t>(count))] =
          random.one_of({nan, infinity, -infinity, 0.0f, -0.0f, 1e30f, -largest, largest});
  return numbers;
}

// Memory for one array, between protected pages.
class Pages {
 public:
  static constexpr std::size_t size = 1 << 18, guard = 1 << 16;  // multiples of every page's size

  Pages() {
    void* const all = mmap(nullptr, size + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    first_ = static_cast<char*>(all) + guard;
    if (mprotect(first_, size, PROT_READ | PROT_WRITE) != 0) std::abort();
  }

  enum Place { at_start, at_end, forbidden };

  // Returns an address for `bytes` that begin right after the first protected page, end right before the last one, or lie in a protected
  // page, where any access crashes.
  void* place(std::size_t bytes, Place place) {
    if (place == forbidden) return first_ + size;
    if (bytes > size) std::abort();
    return place == at_end ? first_ + (size - bytes) : first_;
  }

 private:
  char* first_;
};

// The arrays of one call. A missing argument is a null pointer.
class Room {
 public:
  explicit Room(Pages::Place place) : place_(place) {}

  // For an array of bool, elements other than zero become true.
  template <class Element = float>
  Element* output(const Matrix& before) {
    if (!before.is_there) return nullptr;
    auto* const array = static_cast<Element*>(pages_.at(used_++).place(before.elements.size() * sizeof(Element), place_));
    if (place_ != Pages::forbidden) std::copy(before.elements.begin(), before.elements.end(), array);
    return array;
  }
  // The same for an array that the call must not change.
  const float* input(const Matrix& m) {
    const float* const array = output(m);
    if (m.is_there && place_ != Pages::forbidden) inputs_.push_back({array, &m.elements});
    return array;
  }
  bool inputs_hold() const {
    return std::all_of(inputs_.begin(), inputs_.end(), [](const auto& input) {
      const auto& [array, numbers] = input;
      return std::memcmp(array, numbers->data(), numbers->size() * sizeof(float)) == 0;
    });
  }

 private:
  static inline std::array<Pages, 20> pages_;

  Pages::Place place_;
  std::size_t used_ = 0;
  std::vector<std::pair<const float*, const Numbers*>> inputs_ = {};
};

// A description of the running call, which the test prints last if the call crashes or does not return.
inline char this_call[1024];

// Counts of the calls of one operation that computed and that returned an error. Both kinds have to occur.
inline std::size_t computed, refused;

// Draws the arguments of one call, notes them for a message, and knows whether they make sense.
class Call {
 public:
  explicit Call(Random& from) : random(from), is_wild(from.one_in(2)) {
    this_call[0] = '\0';
    alarm(10);
  }

  Random& random;
  const bool is_wild;

  std::size_t note(const char* name, std::size_t value) {
    const std::size_t length = std::strlen(this_call);
    std::snprintf(this_call + length, sizeof this_call - length, " %s %zu", name, value);
    return value;
  }
  std::size_t size(const char* name) { return note(name, is_wild ? wild_size(random) : sound_size(random)); }

  void refuse_if(bool nonsense) { is_nonsense_ |= nonsense && !is_idle_; }
  // From here on the call has nothing to do: no argument matters, and it must access none.
  void do_nothing() { is_idle_ = true; }

  // Arrays that the call needs. With arbitrary arguments each is a null pointer now and then.
  Matrix input(const char* name, std::size_t rows, std::size_t cols) { return optional_input(name, rows, cols, needs_array()); }
  Matrix output(const char* name, std::size_t rows, std::size_t cols, float start = 42.0f) {
    Matrix m = array(name, rows, cols, needs_array());
    if (fits_ && m.is_there) m.elements.assign(rows * cols, start);
    return m;
  }
  Matrix scratch(std::size_t count) { return output("scratch", count, 1, std::numeric_limits<float>::quiet_NaN()); }

  Matrix optional_input(const char* name, std::size_t rows, std::size_t cols, bool is_there) {
    Matrix m = array(name, rows, cols, is_there);
    if (fits_ && m.is_there) m.elements = draw_numbers(random, rows * cols);
    return m;
  }

  // Returns whether a call is right. call(room, out) makes the call; its output contains `before`, and must become what expected() returns.
  // A wild call whose arguments make sense but whose arrays are too large is not made.
  bool gives(const Matrix& before, auto expected, auto call) const {
    if (is_nonsense_ || is_idle_) {
      ++(is_nonsense_ ? refused : computed);
      Room room(Pages::forbidden);
      return call(room, room.output(before)) == (is_nonsense_ ? TINYATTN_BAD_ARGUMENT : TINYATTN_OK);
    }
    if (!fits_) return true;
    ++computed;
    const Matrix results = expected();
    for (const auto place : {Pages::at_start, Pages::at_end}) {
      Room room(place);
      float* const out = room.output(before);
      if (call(room, out) != TINYATTN_OK || !room.inputs_hold() || !same_bits(out, results.elements)) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t most_floats = Pages::size / sizeof(float), most_if_wild = 1 << 11;

  bool needs_array() {
    const bool is_there = !is_wild || !random.one_in(12);
    refuse_if(!is_there);
    return is_there;
  }

  Matrix array(const char* name, std::size_t rows, std::size_t cols, bool is_there) {
    const std::size_t count = times(rows, cols);
    if (is_there) {
      refuse_if(count == 0 || count > most);
      fits_ &= count != 0 && count <= (is_wild ? most_if_wild : most_floats);
    } else {
      note(name, 0);
    }
    return {rows, cols, {}, is_there};
  }

  // Every NaN equals every other.
  static bool same_bits(const float* actual, const Numbers& expected) {
    const auto bits = [](float x) { return x != x ? 0x7fc00000u : __builtin_bit_cast(std::uint32_t, x); };
    return std::equal(expected.begin(), expected.end(), actual, [&](float a, float b) { return bits(a) == bits(b); });
  }

  bool is_nonsense_ = false, is_idle_ = false, fits_ = true;
};

}  // namespace tinyattn::test
