// SPDX-License-Identifier: MIT
//
// A call of the compiled library whose shapes and numbers are drawn when the program runs. Its arrays lie in one memory, between guards,
// and each has exactly the size that the library asks for. Scratch and caches begin as garbage.
#pragma once

#include "catalogue/plain.hpp"
#include "catalogue/twin.hpp"
#include "random.hpp"
#include "tinyattn/tinyattn_models.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tinyattn::test {

// The memory of a call. After it, whatever it may not write is as it was: guards, inputs, and what lies around them.
class Arrays {
 public:
  template <class Element>
  Element* take(Size count, bool may_be_written) {
    const Size size = count * sizeof(Element);
    if (size + guard + last_guard > bytes_.size() - used_) __builtin_trap();
    if (may_be_written) written_.push_back({used_, size});
    auto* const first = reinterpret_cast<Element*>(bytes_.data() + used_);
    used_ += (size + 15) / 16 * 16 + guard;
    return first;
  }

  void remember() { before_.assign(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(used_ + last_guard)); }
  bool are_as_before() const { return std::memcmp(before_.data(), bytes_.data(), before_.size()) == 0; }
  bool others_are_as_before() {
    for (const auto& [first, size] : written_) std::memcpy(before_.data() + first, bytes_.data() + first, size);
    return are_as_before();
  }

 private:
  struct Part {
    Size first, size;
  };
  static constexpr Size guard = 256, last_guard = 16384;

  std::vector<std::byte> bytes_ = std::vector<std::byte>(1 << 20, std::byte{0x5a}), before_ = {};
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

  float* output(Size count) { return array(count, 42.0f, true); }
  // Scratch, or a cache.
  float* garbage(Size count) { return array(count, garbage_, true); }
  // Finite numbers, of which a few may be replaced.
  float* input(Size count, bool has_specials = false) {
    float* const first = array(count, 0.0f, false);
    for (Size i = 0; i < count; ++i) first[i] = number();
    if (has_specials && random.one_in(5))
      for (Size left = 1 + random.below(3); left != 0; --left)
        first[random.below(count)] = random.one_of({quiet_nan, infinity, -infinity, 0.0f, -0.0f, 1e30f});
    return first;
  }
  template <class Element>
  Element* elements(Size count, auto draw) {
    auto* const first = arrays_.take<Element>(count, false);
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
  float* array(Size count, float start, bool may_be_written) {
    float* const first = arrays_.take<float>(count, may_be_written);
    std::fill_n(first, count, start);
    return first;
  }
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
