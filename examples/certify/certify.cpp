// SPDX-License-Identifier: MIT
//
// The line that a chip prints: README.md says what its fields mean.
#define TINYATTN_IN_GIVEN_MEMORY
#include "certify.h"

#include "../support/checksum.hpp"
#include "answers/library.hpp"
#include "counter.hpp"
#include "kernels.hpp"
#include "tinyattn/version.h"

#include <algorithm>

namespace {

using namespace tinyattn::test;

constexpr char format[] = "tinyattn-certificate-1";

constexpr std::size_t least_kilobytes = TINYATTN_CERTIFY_LEAST / 1024;
// The memory that a group of calls of any shapes takes, in KB, in the order of the table of groups.
constexpr std::uint16_t needs[] = {28, 118, 22, 74, 60, 276, 13, 14, 483, 176, 138, 198, 126, 174, 3, 198, 126, 174, 10, 7};
constexpr std::size_t num_groups = std::size(operations);
static_assert(std::size(needs) == num_groups && *std::max_element(needs, needs + num_groups) * 1024 <= TINYATTN_CERTIFY_MOST);

// Prints text and counts it into the line's checksum.
class Line {
 public:
  explicit Line(void (*print)(const char*)) : print_(print) {}

  void add(const char* text) {
    for (; *text != '\0'; ++text) {
      const char character[] = {*text, '\0'};
      checksum_.add(static_cast<std::uint8_t>(*text));
      print_(character);
    }
  }
  void add_word(const char* text) {
    for (; *text != '\0'; ++text) {
      const char character[] = {*text == ' ' ? '-' : *text, '\0'};
      add(character);
    }
  }
  void add(std::uint32_t number) {
    char digits[11] = {};
    char* first = digits + 10;
    do *--first = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    add(first);
  }
  void add_hex(std::uint32_t number) {
    char digits[] = "00000000";
    for (int i = 7; i >= 0; --i, number >>= 4) digits[i] = "0123456789abcdef"[number & 15];
    add(digits);
  }
  std::uint32_t checksum() const { return checksum_.value(); }

 private:
  void (*print_)(const char*);
  support::Checksum checksum_;
};

void add_core(Line& line) {
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
  line.add_hex(certify::core_register(0xe000ed00));  // CPUID
#elif defined(__riscv)
  line.add("riscv"), line.add(std::uint32_t{__riscv_xlen});
#elif defined(__XTENSA__)
  line.add("xtensa");
#elif defined(__x86_64__)
  line.add("x86-64");
#elif defined(__aarch64__)
  line.add("aarch64");
#else
  line.add("other");
#endif
}

void add_compiler(Line& line) {
#ifdef __clang__
  constexpr std::uint32_t parts[] = {__clang_major__, __clang_minor__, __clang_patchlevel__};
  line.add("clang-");
#else
  constexpr std::uint32_t parts[] = {__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__};
  line.add("gcc-");
#endif
  line.add(parts[0]), line.add("."), line.add(parts[1]), line.add("."), line.add(parts[2]);
}

// --- The calls ---

bool fits(std::size_t group, const tinyattn_chip& chip) { return needs[group] * 1024u <= chip.bytes; }

// The calls of a group, whose scratch held NaN before.
struct Computed {
  std::uint32_t crc = 0;
  bool is_sound = true;  // each was accepted, and wrote only its outputs and scratch

  Computed(std::size_t group, Size largest_size) {
    Crc all;
    for (unsigned number = 1; number <= committed_calls; ++number) {
      Call call(number, largest_size, quiet_nan, false, all);
      operations[group].call(call);
      if (call.failure() != nullptr) is_sound = false;
    }
    crc = all.value();
  }
};

bool add_calls(Line& line, const tinyattn_chip& chip) {
  line.add(" shapes=");
  for (std::size_t i = 0; i < num_groups; ++i) line.add(fits(i, chip) ? "a" : "s");
  line.add(" crcs=");
  bool are_sound = true;
  for (std::size_t i = 0; i < num_groups; ++i) {
    Arrays::bytes = 1024 * (fits(i, chip) ? needs[i] : least_kilobytes);
    const Computed computed(i, fits(i, chip) ? Random::any_size : small_size);
    if (i != 0) line.add(",");
    line.add_hex(computed.crc);
    if (!computed.is_sound) line.add("!");
    are_sound = are_sound && computed.is_sound;
  }
  return are_sound;
}

// --- The cycles ---

// The least of three runs: the first may wait for flash, and an interrupt is in few.
std::uint32_t least_cycles(const certify::Kernel& kernel, std::uint32_t (*cycles)(), std::uint32_t mask, void* memory) {
  std::uint32_t least = 0xffffffff;
  for (int i = 0; i < 3; ++i) {
    kernel.draw(memory);
    const std::uint32_t begin = cycles();
    kernel.compute(memory);
    least = std::min(least, (cycles() - begin) & mask);
  }
  return least;
}

void add_cycles(Line& line, const tinyattn_chip& chip) {
  const bool by_core = chip.counter == nullptr;
  if (by_core) certify::start_core_counter();
  const auto count = [&](const certify::Kernel& kernel) {
    return by_core ? least_cycles(kernel, certify::core_cycles, certify::counter_mask, chip.memory)
                   : least_cycles(kernel, chip.cycles, 0xffffffff, chip.memory);
  };
  const bool counts = (by_core || chip.cycles != nullptr) && count(certify::kernels[0]) != 0;
  line.add(" counter="), line.add(!counts ? "none" : by_core ? certify::core_counter : chip.counter);
  line.add(" cycles=");
  if (!counts) return line.add("-");
  const std::uint32_t of_nothing = count(certify::nothing);
  for (const certify::Kernel& kernel : certify::kernels) {
    if (&kernel != certify::kernels) line.add(",");
    const std::uint32_t counted = count(kernel);
    line.add(counted - std::min(counted, of_nothing));
  }
}

}  // namespace

int tinyattn_certify(const tinyattn_chip* chip) {
  Arrays::words = chip->memory;
  Line line(chip->print);
  line.add(format);
  line.add(" library=" TINYATTN_VERSION_STRING);
  line.add(" chip="), line.add_word(chip->chip);
  line.add(" emulated="), line.add(chip->is_emulated ? "yes" : "no");
  line.add(" core="), add_core(line);
  line.add(" port="), line.add(tinyattn_port());
  line.add(" compiler="), add_compiler(line);
  const bool are_sound = add_calls(line, *chip);
  add_cycles(line, *chip);
  const std::uint32_t checksum = line.checksum();
  line.add(" line="), line.add_hex(checksum), line.add("\n");
  return are_sound;
}
