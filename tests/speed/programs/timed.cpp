// SPDX-License-Identifier: MIT
//
// Times every row through Google Benchmark. Each repetition also times the roof, right before and after, so
// that both meet the same clock and the same neighbours. All times are of the thread's processor time.
#include "roof.hpp"
#include "row.hpp"

#include <benchmark/benchmark.h>
#include <ctime>

namespace {

using tinyattn::bench::multiply_add_in_registers;
using tinyattn::bench::Row;

double processor_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Roof {
  double operations = 0.0;
  double seconds = 0.0;

  void add() {
    constexpr std::size_t about_half_a_millisecond = 300000;
    const double begin = processor_seconds();
    operations += multiply_add_in_registers(about_half_a_millisecond);
    seconds += processor_seconds() - begin;
  }
};

// How many calls take a microsecond or more, so that asking whether to go on costs nothing.
benchmark::IterationCount calls_at_once(const Row& row) {
  for (benchmark::IterationCount calls = 1;; calls *= 2) {
    const double begin = processor_seconds();
    row.repeat(static_cast<std::size_t>(calls));
    if (processor_seconds() - begin > 2e-6) return calls;
  }
}

void time_row(benchmark::State& state, const Row& row, benchmark::IterationCount batch) {
  Roof roof;
  roof.add();
  while (state.KeepRunningBatch(batch)) row.repeat(static_cast<std::size_t>(batch));
  roof.add();
  state.counters["roof"] = roof.operations / roof.seconds;
}

}  // namespace

int main(int argc, char** argv) {
  for (const Row* row = tinyattn::bench::rows; row != nullptr; row = row->next) {
    row->prepare();
    const auto batch = calls_at_once(*row);
    benchmark::RegisterBenchmark(row->name, [row, batch](benchmark::State& state) { time_row(state, *row, batch); });
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  return benchmark::RunSpecifiedBenchmarks() == 0 ? 1 : 0;
}
