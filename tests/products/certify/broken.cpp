// SPDX-License-Identifier: MIT
//
// Chooses what is broken in the port of a build with -DTINYATTN_PORT=broken: the number in the variable MUTANT.
#include "tinyattn/port/native.hpp"

#include <cstdlib>

namespace {

using namespace tinyattn::test;

constexpr const char* mutants[] = {no_mutant, rounds_twice, fills_with_zeros, forgets_the_last_terms, stores_one_too_many};

[[maybe_unused]] const bool is_chosen = [] {
  mutant = mutants[*std::getenv("MUTANT") - '0'];
  return true;
}();

}  // namespace
