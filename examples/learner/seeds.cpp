// SPDX-License-Identifier: MIT
//
// Counts the seeds on which the training succeeds: 99 % of 8,000 digits right, in sequences that took no part. These seeds differ from the
// ones in the search for the settings.
//
//   seeds COUNT
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "../support/checksum.hpp"
#include "model.hpp"

namespace learner { namespace {

constexpr std::size_t first_seed = 2001, sequences = 1000, digits = length * sequences, enough = digits / 100 * 99;

struct Results {
  std::size_t succeeded = 0, least_right = digits, seed_of_least = 0;
  support::Checksum checksum;  // of the weights of all seeds
};

void try_seed(Memory& memory, std::size_t seed, Results& results) {
  start(memory, best_settings, seed);
  for (std::size_t i = 0; i < steps; ++i) learn(memory, best_settings, seed, i);
  std::size_t right = 0;
  for (std::size_t i = 0; i < sequences; ++i) right += count_right(memory, draw(seed, Stream::test, i));
  results.succeeded += right >= enough ? 1 : 0;
  if (right < results.least_right) results.least_right = right, results.seed_of_least = seed;
  tinyattn::for_each_parameter(memory.model, [&](const char*, const auto& w) { results.checksum.add(w.data(), w.size()); });
}

void print(const Results& results, std::size_t count) {
  std::printf("after %zu steps at least 99 %% of %zu digits are right on %zu of %zu seeds\n", steps, digits, results.succeeded, count);
  std::printf("worst            %zu digits, seed %zu\n", results.least_right, results.seed_of_least);
  std::printf("crc32 of weights %08x\n", static_cast<unsigned>(results.checksum.value()));
}

}}  // namespace learner

// Fails if more than one seed in 250 fails.
int main(int argc, char** argv) {
  using namespace learner;
  const std::size_t count = argc == 2 ? std::strtoul(argv[1], nullptr, 10) : 0;
  if (count == 0) return std::fputs("usage: seeds COUNT\n", stderr), 2;
  const auto memory = std::make_unique<Memory>();
  Results results;
  for (std::size_t seed = first_seed; seed < first_seed + count; ++seed) try_seed(*memory, seed, results);
  print(results, count);
  return 250 * (count - results.succeeded) <= count ? 0 : 1;
}
