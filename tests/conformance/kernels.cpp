// SPDX-License-Identifier: MIT
//
// Checks every kernel over the port of this build; or, with TINYATTN_CHECK, some kernels over ports of many widths, tiles and blocks, also
// such as no machine has. None of these may change a bit.
#if defined(TINYATTN_CHECK)
#include "wide.hpp"
#endif

#include "attention.hpp"
#include "models.hpp"
#include "products.hpp"
#include "rows.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr Test tests[] = {
#if defined(TINYATTN_CHECK)
    at_run_time("four lanes, one copy of a kernel for all shapes", TINYATTN_CHECK<Sharing>),
    at_run_time("four lanes, one copy, with a tile of its own", TINYATTN_CHECK<SharingWithTile>),
    at_run_time("four lanes, with every tile of its own", TINYATTN_CHECK<OwnTiles>),
    at_run_time("eight lanes", TINYATTN_CHECK<Eight>),
    at_run_time("one lane, tiles of several sizes", TINYATTN_CHECK<OneLane>),
    at_run_time("sixteen lanes, eight or four where rows are short", TINYATTN_CHECK<Narrowing>),
#else
    at_run_time("products of any shape, of one row, and tiny ones", check_products<native_port>),
    at_run_time("norms, caches, feed-forward", check_models<native_port>),
    at_run_time("rows", check_rows<native_port>),
    at_run_time("transposes", check_transposes<native_port>),
    at_run_time("attention with each mask", check_attention<native_port>),
    at_run_time("layers with each mask, with and without dropout", check_layers<native_port>),
#endif
};

}  // namespace

int main() { return run(tests); }
