// SPDX-License-Identifier: MIT
//
// A test is a name and a function; the same function runs inside the compiler, on the host and on a board.
//
//   constexpr Test tests[] = {
//       everywhere("every row sums to one", [](Check& check) { check.near(..., ..., 1e-6f); }),
//       at_run_time("a million draws keep their rate", [](Check& check) { ... }),
//   };
//   int main() { return run(tests); }
//
// The table is constexpr and `everywhere` runs the function while it is compiled: a check that fails there does not compile.
// `run` prints the Test Anything Protocol. A test in which nothing was checked has failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tinyattn::test {

class Check {
 public:
  constexpr void that(bool holds, int line = __builtin_LINE()) noexcept {
    ++checks_;
    if (!holds && failures_++ == 0) first_failed_line_ = static_cast<unsigned>(line);
  }

  constexpr void equal(const auto& actual, const auto& expected, int line = __builtin_LINE()) noexcept { that(actual == expected, line); }

  // |actual - expected| <= tolerance, element by element; equal infinities are near, NaN is near nothing.
  constexpr void near(const auto& actual, const auto& expected, float tolerance, int line = __builtin_LINE()) noexcept {
    bool holds = count(actual) == count(expected);
    for (std::size_t i = 0; holds && i < count(expected); ++i) holds = is_near(element(actual, i), element(expected, i), tolerance);
    that(holds, line);
  }

  // Checks that all bits are the same. All NaNs are equal, since sign and payload are not promised.
  constexpr void same_bits(const auto& actual, const auto& expected, int line = __builtin_LINE()) noexcept {
    bool holds = count(actual) == count(expected);
    for (std::size_t i = 0; holds && i < count(expected); ++i) holds = bits(element(actual, i)) == bits(element(expected, i));
    that(holds, line);
  }

  // A test that checked nothing has not passed.
  constexpr bool passed() const noexcept { return checks_ != 0 && failures_ == 0; }
  constexpr unsigned checks() const noexcept { return checks_; }
  constexpr unsigned failures() const noexcept { return failures_; }
  constexpr unsigned first_failed_line() const noexcept { return first_failed_line_; }

 private:
  static constexpr std::size_t count(float) noexcept { return 1; }
  static constexpr std::size_t count(const auto& tensor) noexcept { return tensor.size(); }
  static constexpr float element(float value, std::size_t) noexcept { return value; }
  static constexpr float element(const auto& tensor, std::size_t i) noexcept { return tensor.data()[i]; }

  static constexpr bool is_near(float a, float b, float tolerance) noexcept {
    if (a == b) return true;
    if (a != a || b != b) return false;  // Clang accepts no arithmetic with NaN in a constant
    const float difference = a < b ? b - a : a - b;
    return difference <= tolerance;
  }
  static constexpr std::uint32_t bits(float x) noexcept { return x != x ? 0x7fc00000u : __builtin_bit_cast(std::uint32_t, x); }

  unsigned checks_ = 0, failures_ = 0, first_failed_line_ = 0;
};

struct Test {
  const char* name;
  void (*body)(Check&);
};

// Not constexpr: a failed check calls it during constant evaluation, and the compiler's error names it.
inline void a_check_failed_in_the_compiler() {}

template <class Body>
constexpr Test everywhere(const char* name, Body body) {
#ifndef TEST_AT_RUN_TIME
  Check check;
  body(check);
  if (!check.passed()) a_check_failed_in_the_compiler();
#endif
  return {name, body};
}

template <class Body>
constexpr Test at_run_time(const char* name, Body body) {
  return {name, body};
}

// A test of several functions, one after the other.
template <void (*... bodies)(Check&)>
inline constexpr auto each_of = [](Check& check) { (bodies(check), ...); };

// Returns the same value from memory that the optimizer cannot see through: at run time the port, not the compiler, computes what follows
// from it.
template <class T>
constexpr T opaque(const T& value) noexcept {
  T copy = value;
  if (!std::is_constant_evaluated()) asm volatile("" : : "r"(&copy) : "memory");
  return copy;
}

int run(const Test* tests, std::size_t count);

template <std::size_t Count>
int run(const Test (&tests)[Count]) {
  return run(tests, Count);
}

}  // namespace tinyattn::test
