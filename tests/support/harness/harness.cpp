// SPDX-License-Identifier: MIT
//
// Tests the harness: what `run` prints and returns for tests that pass, fail, and check nothing. The program replaces the board's console,
// to read the text.
#include <cstdio>
#include <limits>
#include <string>

#include "board.h"
#include "catalogue/guarded.hpp"
#include "support/check.hpp"
#include "tinyattn/tensor.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// Returns whether the checks of `body` pass; the compiler evaluates it.
template <class Body>
constexpr bool passes(Body body) {
  Check check;
  body(check);
  return check.passed();
}

static_assert(!Check{}.passed());
static_assert(passes([](Check& check) { check.near(1.0f, 1.25f, 0.25f); }));
static_assert(!passes([](Check& check) { check.near(1.0f, 1.5f, 0.25f); }));
static_assert(!passes([](Check& check) { check.near(nan, nan, 0.25f); }));
static_assert(!passes([](Check& check) { check.near(infinity, 1.0f, 0.25f); }));
static_assert(!passes([](Check& check) { check.near(vector<float>({1.0f}), vector<float>({1.0f, 1.0f}), 0.25f); }));
static_assert(passes([](Check& check) { check.same_bits(nan, -nan); }));
static_assert(!passes([](Check& check) { check.same_bits(0.0f, -0.0f); }));
static_assert(!passes([](Check& check) { check.same_bits(vector<float>({1.0f, 2.0f}), vector<float>({1.0f, 3.0f})); }));
static_assert(!passes([](Check& check) {
  check.that(false);
  check.that(true);
}));

// Returns whether a write to an output leaves its guards unchanged.
constexpr bool guards_hold(auto write) {
  Guarded<Vector<float, 2>> output;
  write(output);
  return output.guards_hold();
}

static_assert(guards_hold([](auto& output) { output.tensor(1) = 0.0f; }));
static_assert(!guards_hold([](auto& output) { output.before[15] = 0.0f; }));
static_assert(!guards_hold([](auto& output) { output.after[0] = 0.0f; }));

std::string printed;

constexpr Test one_passes[] = {everywhere("a", [](Check& check) { check.that(true); })};
constexpr Test one_of_two_fails[] = {at_run_time("a", [](Check& check) { check.that(false, 7); }),
                                     at_run_time("b", [](Check& check) { check.that(true); })};
constexpr Test nothing_is_checked[] = {at_run_time("a", [](Check&) {})};

template <std::size_t Count>
bool runs_as(const Test (&tests)[Count], int status, const char* text) {
  printed.clear();
  return run(tests) == status && printed == text;
}

void report(int number, const char* name, bool holds) { std::printf("%s %d - %s\n", holds ? "ok" : "not ok", number, name); }

}  // namespace

void board_print(const char* text) { printed += text; }
unsigned board_stack_used() { return 0; }

int main() {
  std::puts("1..4");
  report(1, "a test that passes", runs_as(one_passes, 0, "1..1\nok 1 - a\n"));
  report(2, "a test that fails", runs_as(one_of_two_fails, 1, "1..2\nnot ok 1 - a\n# failed checks: 1, the first in line 7\nok 2 - b\n"));
  report(3, "a test that checks nothing", runs_as(nothing_is_checked, 1, "1..1\nnot ok 1 - a\n# nothing was checked\n"));
  report(4, "no test at all", run(nullptr, 0) != 0);
}
