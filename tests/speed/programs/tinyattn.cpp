// SPDX-License-Identifier: MIT
//
// A row by this library, whose shapes are in the types.
#ifdef TINYATTN_BENCH_HIDDEN
#include "models.hpp"
#endif
#ifdef TINYATTN_BENCH_MODULE
#include "modules.hpp"
#endif
#ifdef TINYATTN_BENCH_BACKWARD
#include "backward.hpp"
#endif
#ifdef TINYATTN_BENCH_OPTIMIZER
#include "optimizers.hpp"
#endif
#ifdef TINYATTN_BENCH_TRAINING
#include "training.hpp"
#endif
#include "operations.hpp"
#include "row.hpp"

namespace tinyattn::bench {

struct Tinyattn {
  static void compute(auto& operands) { operands.compute(); }
};

const Row row = RowBy<Tinyattn, TINYATTN_BENCH_OPERATION>::row;

}  // namespace tinyattn::bench
