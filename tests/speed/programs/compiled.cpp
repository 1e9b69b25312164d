// SPDX-License-Identifier: MIT
//
// A layer's row by the compiled library, which is linked to the program.
#include "tinyattn/compiled.hpp"

#include "operations.hpp"
#include "row.hpp"

namespace tinyattn::bench {

struct Compiled {
  static void compute(auto& operands) { compiled::forward(operands.layer, operands.x, operands.out, operands.workspace); }
};

const Row row = RowBy<Compiled, TINYATTN_BENCH_OPERATION>::row;

}  // namespace tinyattn::bench
