// SPDX-License-Identifier: MIT
//
// Times the row. Prints the nanoseconds of a call and the roof in GFLOP/s, timed right before and after it, so that clock frequency and
// other load affect both alike. All times are the thread's processor time.
#include "roof.hpp"
#include "row.hpp"

#include <cstdio>
#include <ctime>

namespace {

using tinyattn::bench::multiply_add_in_registers;
using tinyattn::bench::row;

double processor_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(auto work) {
  const double begin = processor_seconds();
  work();
  return processor_seconds() - begin;
}

// Returns a number of calls that takes some milliseconds: long next to reading the clock, short next to disturbances.
std::size_t calls_of_a_sample() {
  std::size_t calls = 1;
  while (seconds_of([&] { row.repeat(calls); }) < 2.5e-3) calls *= 2;
  return calls;
}

void print_sample(std::size_t calls) {
  double operations = 0.0;
  const auto compute_roof = [&] { operations += multiply_add_in_registers(300000); };  // about half a millisecond
  const double before = seconds_of(compute_roof);
  const double ns = 1e9 * seconds_of([&] { row.repeat(calls); }) / static_cast<double>(calls);
  const double after = seconds_of(compute_roof);
  std::printf("%.9g %.9g\n", ns, 1e-9 * operations / (before + after));
}

}  // namespace

int main() {
  row.prepare();
  print_sample(calls_of_a_sample());
  return 0;
}
