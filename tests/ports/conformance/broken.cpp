// SPDX-License-Identifier: MIT
//
// Ports that break the contract in one operation each: drawn calls must find every one.
#include "answers/library.hpp"
#include "answers/table.hpp"

using namespace tinyattn::test;

namespace {

constexpr const char* mutants[] = {no_mutant,
                                   stores_one_too_many,
                                   stores_one_too_few,
                                   swaps_lanes,
                                   fills_with_zeros,
                                   takes_the_same_lane,
                                   forgets_a_lane_of_an_fma,
                                   rounds_twice,
                                   rounds_twice_to_a_broadcast,
                                   forgets_a_lane_of_a_product,
                                   forgets_a_lane_of_a_sum,
                                   forgets_a_lane_in_max,
                                   takes_nan_for_less,
                                   leaves_a_bit_of_the_smallest_power,
                                   takes_the_next_broadcast,
                                   starts_at_zero,
                                   forgets_the_odd_step,
                                   scatters_too_near,
                                   packs_too_few,
                                   takes_codes_without_gaps,
                                   forgets_the_last_terms};

// Whether an operation differs from plain loops, or writes outside of its outputs.
bool is_found() {
  for (const Operation& operation : operations)
    if (!holds(operation, Random::any_size, operation.crc, committed_calls)) return true;
  return false;
}

}  // namespace

int main() {
  unsigned number = 0, failures = 0;
  print("1.."), print(static_cast<unsigned>(std::size(mutants))), print("\n");
  for (const char* const its_mutant : mutants) {
    mutant = its_mutant;
    const bool is_right = is_found() == (its_mutant != no_mutant);
    failures += is_right ? 0 : 1;
    print(is_right ? "ok " : "not ok "), print(++number), print(" - "), print(its_mutant), print("\n");
  }
  return failures != 0;
}
