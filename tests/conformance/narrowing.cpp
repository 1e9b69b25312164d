// SPDX-License-Identifier: MIT
//
// Every kernel over a port of sixteen lanes that has eight or four for short rows, and zips vectors to transpose. None of it may show in
// a bit.
#include "calls.hpp"

#include "kernels.hpp"
#include "wide.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

using Port = WideOrNarrow<16>;

constexpr Test tests[] = {
    at_run_time("transposes of squares", check_transposes<Port>),
    at_run_time("sixteen lanes, eight or four where rows are short", check_kernels<Port>),
    at_run_time("a layer whose rows are short", check_heads<Port, short_layer_config>),
};

}  // namespace

int main() { return run(tests); }
