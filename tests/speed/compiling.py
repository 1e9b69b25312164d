# SPDX-License-Identifier: MIT
"""The processor's time that compilers take for the bare headers, for a layer and for ten in one unit."""
import functools
import os
import re
import statistics

import building
import rows
import tables

HEADERS = ("-include", "tinyattn/tinyattn.hpp", "-x", "c++", os.devnull)
LAYER = (rows.PROGRAMS / "tinyattn.cpp", *rows.flags("attention T1"))
TEN_LAYERS = (building.ROOT / "tests" / "compiled" / "firmware.cpp", "-DSHAPES=10")
M4F = " ".join(building.board("mps2-an386").cpp)
FAST = ("g++ -O3 -march=native", "clang++ -O3 -march=native")
UNITS = {
    **{f"headers, {compiler}": (*compiler.split(), *HEADERS) for compiler in ("g++ -O0", "clang++ -O0")},
    **{f"T1, {compiler}": (*compiler.replace("M4F", M4F).split(), *LAYER) for compiler in ("g++ -O2", *FAST, "M4F -Os")},
    **{f"ten layers, {compiler}": (*compiler.split(), *TEN_LAYERS) for compiler in FAST},
}


def bench(options):
    tasks = {(name, "processor time", whose): functools.partial(building.processor_seconds, [
                 *command, *building.language(tree), *options.flags.split(), "-c", "-o", os.devnull])
             for name, command in UNITS.items() if re.search(options.filter, name) for whose, tree in options.trees.items()}
    if not tasks:
        raise building.Failed("no unit of that name")
    samples = tables.take_turns(tasks, options.rounds or 5)
    tables.print_ours(samples, lambda _row, _column, its: f"{statistics.median(its):.3f} s")
    tables.print_beside(samples, " s")
