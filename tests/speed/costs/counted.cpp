// SPDX-License-Identifier: MIT
//
// Makes the call between two functions that tests/speed/cycles/counter.cpp recognizes. Weights and input are random: zeros would be cheap
// where float arithmetic is done in integers.
#include "filled.hpp"

using namespace tinyattn::footprint;

void attend(const Layer& layer, const Input& x, Output& out, Workspace& workspace) noexcept {
  static Usual next;
  if constexpr (!std::is_const_v<decltype(Measured::measured)>) fill(variable(layer), next);
  fill(variable(x), next);
  count_begin();
  Measured::call(layer, x, out, workspace);
  count_end();
}
