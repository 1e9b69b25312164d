// SPDX-License-Identifier: MIT
//
// Rows of layers by the compiled library, with which the program is linked.
#include "tinyattn/compiled.hpp"

#include "row.hpp"

#include <type_traits>

namespace tinyattn::bench { namespace {

struct Compiled {
  static void compute(auto& operands) {
    alignas(64) static typename std::remove_reference_t<decltype(operands)>::Layer::Workspace workspace;
    compiled::forward(operands.layer, operands.x, operands.out, workspace);
  }
};

TINYATTN_BENCH_ROW_BY(Compiled);

}}  // namespace tinyattn::bench
