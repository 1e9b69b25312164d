// SPDX-License-Identifier: MIT
//
// A call of the compiled library whose shapes and numbers are drawn when the program runs. Its arrays lie in one memory, between guards,
// and each has exactly the size that the library asks for. Scratch and caches begin as garbage.
#pragma once

#include "catalogue/crc.hpp"
#include "catalogue/guarded.hpp"
#include "plain.hpp"
#include "random.hpp"
#include "tinyattn/tinyattn_models.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define FORBID(first, count) __asan_poison_memory_region(first, count)
#define ALLOW(first, count) __asan_unpoison_memory_region(first, count)
#endif
#endif
#ifndef FORBID
#define FORBID(first, count) static_cast<void>(0)
#define ALLOW(first, count) static_cast<void>(0)
#endif

namespace tinyattn::test {

// A program that defines TINYATTN_IN_GIVEN_MEMORY sets the memory of its calls before the first.
#ifdef TINYATTN_IN_GIVEN_MEMORY
inline constexpr bool is_in_given_memory = true;
#else
inline constexpr bool is_in_given_memory = false;
#endif

// Boards do not run the plain loops: they must have the CRCs of machines that do.
inline constexpr bool has_twin = __STDC_HOSTED__ != 0 && !is_in_given_memory;
inline constexpr unsigned committed_calls = 100;  // of an operation: those that its CRC covers

#if defined(__ARM_ARCH_6M__)
inline constexpr bool is_smallest_board = true;
#else
inline constexpr bool is_smallest_board = false;
#endif
inline constexpr bool has_little_memory = is_smallest_board || is_in_given_memory;

// The memory of a call. Afterwards everything that it may not write must be unchanged: guards, inputs and what lies around them.
// AddressSanitizer finds reads of guards, too.
class Arrays {
 public:
  using Word [[gnu::may_alias]] = std::uint32_t;
#ifdef TINYATTN_IN_GIVEN_MEMORY
  static inline Word* words = nullptr;
  static inline Size bytes = 0;
#else
  static constexpr Size bytes = is_smallest_board ? 10 * 1024 : 1 << 20;
  alignas(16) static inline Word words[bytes / sizeof(Word)];
#endif

  Arrays() {
    ALLOW(words, bytes);
    fill_up_to(guard);
  }

  // Returns an array of which the first `writable` elements may be written.
  template <class Element>
  Element* take(Size count, Size writable) {
    const Size first = used_, size = (count * sizeof(Element) + 15) / 16 * 16;
    if (size + guard + last_guard > bytes - used_ || parts_ == std::size(written_)) __builtin_trap();
    if (writable != 0) written_[parts_++] = {first, first + writable * sizeof(Element)};
    fill_up_to(first + size + guard);
    std::byte* const array = reinterpret_cast<std::byte*>(words) + first;
    FORBID(array + count * sizeof(Element), size + guard - count * sizeof(Element));
    return reinterpret_cast<Element*>(array);
  }

  void close() { fill_up_to(used_ + last_guard); }

  // A hash of everything that may not be written; hash_of_all includes the outputs.
  std::uint32_t hash_of_others() const { return hash(parts_); }
  std::uint32_t hash_of_all() const { return hash(0); }

 private:
  static constexpr Size guard = has_little_memory ? 32 : 256, last_guard = has_little_memory ? 1024 : 16384;
  struct Part {
    Size begin, end;
  };

  void fill_up_to(Size end) {
    for (; used_ < end; used_ += sizeof(Word)) words[used_ / sizeof(Word)] = 0x5a5a5a5a;
  }
  // Skips the first `parts` writable arrays.
  std::uint32_t hash(Size parts) const {
    std::uint32_t hash = 0;
    Size begin = 0;
    for (Size i = 0; i < parts; begin = written_[i++].end) add(hash, begin, written_[i].begin);
    add(hash, begin, used_);
    return hash;
  }
  [[gnu::no_sanitize_address]] static void add(std::uint32_t& hash, Size begin, Size end) {
    for (Size i = begin / sizeof(Word); i < end / sizeof(Word); ++i) hash = (std::rotl(hash, 5) ^ words[i]) * 0x9e3779b1u;
  }

  Part written_[has_little_memory ? 24 : 64] = {};
  Size parts_ = 0, used_ = 0;
};

enum class Numbers { small, special, large };

// Draws and makes one call, or several that follow each other.
class Call {
 public:
  Call(unsigned number, Size largest_size, float garbage, bool compares, Crc& crc)
      : random(number, largest_size), is_compared(has_twin && compares), number_(number), garbage_(garbage), crc_(crc) {}

  Random random;
  const bool is_compared;  // with plain loops

  const char* failure() {
    check(arrays_.hash_of_others() == others_, "memory beyond the call's is written");
    return is_made_ ? failure_ : "nothing was called";
  }
  void check(bool holds, const char* what) {
    if (!holds && failure_ == nullptr) failure_ = what;
  }

  template <class Element = float>
  Element* output(Size count) {
    return array<Element>(count, 42);
  }
  // Scratch or a cache, filled with garbage.
  float* garbage(Size count) { return array<float>(count, garbage_); }
  // Numbers below 1, of which a few may be replaced, or large ones.
  float* input(Size count, Numbers which = Numbers::small) {
    float* const first = arrays_.take<float>(count, 0);
    const float unit = which == Numbers::large ? random.one_of({0x1p12f, 0x1p40f}) : 1.0f;
    for (Size i = 0; i < count; ++i) first[i] = unit * random.number();
    if (which == Numbers::special && random.one_in(5))
      for (Size left = 1 + random.below(3); left != 0; --left) {
        const Size at = random.below(count);
        first[at] = random.one_of({quiet_nan, infinity, -infinity, 0.0f, -0.0f, 1e30f, 3e38f, -3e38f});
      }
    return first;
  }
  // One of the first where a CRC covers the call; in later calls any, compared with plain loops.
  Activation activation() {
    return static_cast<Activation>(random.below(number_ <= committed_calls ? activations_in_crcs : kernel::num_activations));
  }
  // A copy of an input whose first `writable` numbers an output may replace.
  float* in_place(const float* input, Size count, Size writable) {
    float* const first = arrays_.take<float>(count, writable);
    std::copy_n(input, count, first);
    return first;
  }
  float* in_place(const float* input, Size count) { return in_place(input, count, count); }
  template <class Element>
  Element* elements(Size count, auto draw) {
    auto* const first = arrays_.take<Element>(count, 0);
    for (Size i = 0; i < count; ++i) first[i] = static_cast<Element>(draw());
    return first;
  }

  void makes(auto call) {
    if (!is_made_) {
      arrays_.close();
      others_ = arrays_.hash_of_others();
    }
    is_made_ = true;
    check(call() == TINYATTN_OK, "a call is refused");
  }
  // Makes a call that must be refused, and must write nothing.
  void refuses(auto call, tinyattn_status expected = TINYATTN_BAD_ARGUMENT) {
    const std::uint32_t before = arrays_.hash_of_all();
    check(call() == expected, "a wrong call is not refused");
    check(arrays_.hash_of_all() == before, "a wrong call writes");
  }

  // Takes an output, which must have the bits that compute(to) computes in plain loops.
  void gives(const float* out, Size rows, Size cols, auto compute) {
    if constexpr (has_twin)
      if (is_compared) compare(out, rows, cols, compute);
    takes(out, rows * cols);
  }
  // Takes an output that has no plain loop: its CRC is compared between targets.
  void takes(const float* out, Size count) {
    for (Size i = 0; i < count; ++i) crc_.add(out[i]);
  }

 private:
  template <class Element>
  Element* array(Size count, Element start) {
    auto* const first = arrays_.take<Element>(count, count);
    std::fill_n(first, count, start);
    return first;
  }

  void compare(const float* out, Size rows, Size cols, auto compute) {
    const plain::Matrix expected(rows, cols);
    compute(*expected);
    const auto bits = [](float x) { return x != x ? 0x7fc00000 : __builtin_bit_cast(std::uint32_t, x); };
    for (Size i = 0; i < rows * cols; ++i) check(bits(out[i]) == bits((*expected).first[i]), "plain loops compute other bits");
  }

  unsigned number_;
  float garbage_;
  Crc& crc_;
  Arrays arrays_ = {};
  std::uint32_t others_ = 0;
  const char* failure_ = nullptr;
  bool is_made_ = false;
};

inline plain::Input matrix(const float* first, Size rows, Size cols) { return {first, rows, cols, cols}; }

}  // namespace tinyattn::test
