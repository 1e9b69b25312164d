// SPDX-License-Identifier: MIT
//
// What tests with random calls share: numbers, arrays between pages that nobody may touch, a watch.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

namespace tinyattn::test {

// The same numbers on every machine.
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

// Room for one array, between pages that nobody may touch.
class Pages {
 public:
  static constexpr std::size_t size = 1 << 18, guard = 1 << 16;  // multiples of every page's size

  Pages() {
    void* const all =
        mmap(nullptr, size + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    first_ = static_cast<char*>(all) + guard;
    if (mprotect(first_, size, PROT_READ | PROT_WRITE) != 0) std::abort();
  }

  // `bytes` flush against the page behind, or against the page before.
  void* place(std::size_t bytes, bool at_end) {
    if (bytes > size) std::abort();
    return at_end ? first_ + (size - bytes) : first_;
  }

  // Where any access is a crash.
  template <class T>
  T* forbidden() {
    return reinterpret_cast<T*>(first_ + size);
  }

 private:
  char* first_;
};

// The call that runs. Should it crash or not return, this is the last that the test says.
inline char this_call[512];

[[gnu::format(printf, 1, 2)]] inline void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(this_call, sizeof this_call, format, arguments);
  va_end(arguments);
  alarm(10);
}

[[noreturn]] inline void give_up(int signal) {
  const char* const why = signal == SIGALRM ? "Bail out! no return: " : "Bail out! crash: ";
  for (const char* text : {why, static_cast<const char*>(this_call), "\n"})
    if (write(1, text, std::strlen(text)) < 0) break;
  _exit(1);
}

// Calls that were compared. Nothing compared is nothing passed.
inline std::size_t compared;

// Makes one random call and says whether the library did what it should.
struct Operation {
  const char* name;
  bool (*call)(Random& random);
};

inline bool hold(const Operation& operation, std::uint64_t first, std::uint64_t count) {
  compared = 0;
  for (std::uint64_t number = first; number < first + count; ++number) {
    Random random(number);
    if (operation.call(random)) continue;
    std::printf("# call %llu: %s\n", static_cast<unsigned long long>(number), this_call);
    return false;
  }
  return compared != 0;
}

// Arguments of the program: how many calls of each operation, and the number of the first.
inline int run(std::span<const Operation> operations, std::uint64_t count, int argc, char** argv) {
  if (argc > 1) count = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, give_up);
  std::printf("1..%zu\n", operations.size());
  int number = 0, failures = 0;
  for (const Operation& operation : operations) {
    const bool holds = hold(operation, first, count);
    failures += !holds;
    std::printf("%s %d - %s\n", holds ? "ok" : "not ok", ++number, operation.name);
    std::fflush(stdout);
  }
  return failures;
}

}  // namespace tinyattn::test
