// SPDX-License-Identifier: MIT
//
// A row of a layer by the compiled library, with which the program is linked.
#include "tinyattn/compiled.hpp"

#include "operations.hpp"
#include "row.hpp"

namespace tinyattn::bench {

struct Compiled {
  static void compute(auto& operands) { compiled::forward(operands.layer, operands.x, operands.out, operands.workspace); }
};

const Row row = RowBy<Compiled, TINYATTN_BENCH_OPERATION>::row;

}  // namespace tinyattn::bench
