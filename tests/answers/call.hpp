// SPDX-License-Identifier: MIT
//
// A call of the compiled library whose shapes and numbers are drawn when the program runs. Its arrays lie in one memory, between guards,
// and each has exactly the size that the library asks for. Scratch and caches begin as garbage.
#pragma once

#include "catalogue/plain.hpp"
#include "catalogue/twin.hpp"
#include "tinyattn/tinyattn_models.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace tinyattn::test {

using Size = std::size_t;

// Draws the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u) {}

  Size below(Size bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<Size>((state_ >> 33) % bound);
  }
  bool one_in(Size count) { return below(count) == 0; }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  // A size that is small, around a multiple of vectors and tiles, or any, up to `most`.
  Size size(Size most = 70) {
    const Size drawn = one_in(3) ? 1 + below(8) : one_in(2) ? one_of({4u, 8u, 16u, 32u, 48u, 64u}) + below(3) - 1 : 1 + below(70);
    return drawn > most ? 1 + drawn % most : drawn;
  }
  Size divisor(Size of) {
    Size drawn = 1 + below(of);
    while (of % drawn != 0) --drawn;
    return drawn;
  }

 private:
  std::uint64_t state_;
};

// The memory of a call. After it, whatever it may not write is as it was: guards, inputs, and what lies around them.
class Arrays {
 public:
  static constexpr Size guard = 64, last_guard = 4096;

  float* take(Size count, float start, bool may_be_written) {
    if (count + guard + last_guard > words_.size() - used_) __builtin_trap();
    float* const first = words_.data() + used_;
    std::fill_n(first, count, start);
    if (may_be_written) written_.push_back({used_, count});
    used_ += count + guard;
    return first;
  }

  void remember() { before_.assign(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(used_ + last_guard)); }
  bool are_as_before() const {
    return std::equal(before_.begin(), before_.end(), words_.begin(),
                      [](float a, float b) { return __builtin_bit_cast(std::uint32_t, a) == __builtin_bit_cast(std::uint32_t, b); });
  }
  bool others_are_as_before() {
    for (const auto& [first, count] : written_) std::copy_n(words_.data() + first, count, before_.data() + first);
    return are_as_before();
  }

 private:
  struct Part {
    Size first, count;
  };

  std::vector<float> words_ = std::vector<float>(1 << 18, 12345.678f), before_ = {};
  std::vector<Part> written_ = {};
  Size used_ = guard;
};

// Draws and makes one call, or several that follow each other.
class Call {
 public:
  Call(std::uint64_t seed, float garbage, Crc& crc) : random(seed), garbage_(garbage), crc_(crc) {}

  Random random;

  const char* failure() {
    check(!is_made_ || arrays_.others_are_as_before(), "memory beyond the call's is written");
    return is_made_ ? failure_ : "nothing was called";
  }
  void check(bool holds, const char* what) {
    if (!holds && failure_ == nullptr) failure_ = what;
  }

  float* output(Size count) { return arrays_.take(count, 42.0f, true); }
  // Scratch, or a cache.
  float* garbage(Size count) { return arrays_.take(count, garbage_, true); }
  // Finite numbers, of which a few may be replaced.
  float* input(Size count, bool has_specials = false) {
    float* const first = arrays_.take(count, 0.0f, false);
    for (Size i = 0; i < count; ++i) first[i] = number();
    if (has_specials && random.one_in(5))
      for (Size left = 1 + random.below(3); left != 0; --left)
        first[random.below(count)] = random.one_of({quiet_nan, infinity, -infinity, 0.0f, -0.0f, 1e30f});
    return first;
  }
  template <class Element>
  Element* elements(Size count, auto draw) {
    auto* const first = reinterpret_cast<Element*>(arrays_.take((count * sizeof(Element) + 3) / 4, 0.0f, false));
    for (Size i = 0; i < count; ++i) first[i] = static_cast<Element>(draw());
    return first;
  }

  void makes(auto call) {
    if (!is_made_) arrays_.remember();
    is_made_ = true;
    check(call() == TINYATTN_OK, "a call is refused");
  }
  // Makes a call that must be refused, and must write nothing.
  void refuses(auto call, tinyattn_status expected = TINYATTN_BAD_ARGUMENT) {
    check(arrays_.others_are_as_before(), "memory beyond the call's is written");
    check(call() == expected, "a wrong call is not refused");
    check(arrays_.are_as_before(), "a wrong call writes");
  }

  // Takes an output, which must have the bits that compute(to) computes in plain loops.
  void gives(const float* out, Size rows, Size cols, auto compute) {
    std::vector<float> expected(rows * cols);
    compute(plain::Output{expected.data(), rows, cols, cols});
    const auto bits = [](float x) { return x != x ? 0x7fc00000 : __builtin_bit_cast(std::uint32_t, x); };
    for (Size i = 0; i < rows * cols; ++i) check(bits(out[i]) == bits(expected[i]), "plain loops compute other bits");
    takes(out, rows * cols);
  }
  // Takes an output that is only compared with those of other targets.
  void takes(const float* out, Size count) {
    for (Size i = 0; i < count; ++i) crc_.add(out[i]);
  }

 private:
  float number() {
    const auto mantissa = static_cast<std::uint32_t>(random.below(0x800000)), exponent = static_cast<std::uint32_t>(119 + random.below(8));
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(random.below(2)) << 31 | exponent << 23 | mantissa);
  }

  float garbage_;
  Crc& crc_;
  Arrays arrays_ = {};
  const char* failure_ = nullptr;
  bool is_made_ = false;
};

inline plain::Input matrix(const float* first, Size rows, Size cols) { return {first, rows, cols, cols}; }

}  // namespace tinyattn::test
