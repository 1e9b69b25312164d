# SPDX-License-Identifier: MIT
"""Measures compilers' processor time for the headers alone, for one layer, and for ten in one unit."""
import functools
import os
import re
import statistics

from tests.speed import programs, rows, tables
from tests.support.processes import ROOT, Failed, processor_seconds

HEADERS = ("-include", "tinyattn/tinyattn.hpp", "-x", "c++", os.devnull)
LAYER = (programs.SOURCES / "tinyattn.cpp", *rows.flags("attention T1"))
TEN_LAYERS = (ROOT / "tests/products/compiled/firmware.cpp", "-DSHAPES=10")
M4F = "arm-none-eabi-g++ -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard -ffreestanding"
FAST = ("g++ -O3 -march=native", "clang++ -O3 -march=native")
UNITS = {
    **{f"headers, {compiler}": (*compiler.split(), *HEADERS) for compiler in ("g++ -O0", "clang++ -O0")},
    **{f"T1, {compiler}": (*compiler.replace("M4F", M4F).split(), *LAYER)
       for compiler in ("g++ -O2", *FAST, "M4F -Os")},
    **{f"ten layers, {compiler}": (*compiler.split(), *TEN_LAYERS) for compiler in FAST},
}


def bench(options):
    tasks = {(name, "processor time", whose): functools.partial(processor_seconds, [
                 *command, *programs.language(tree), *options.flags.split(), "-c", "-o", os.devnull])
             for name, command in UNITS.items() if re.search(options.filter, name)
             for whose, tree in options.trees.items()}
    if not tasks:
        raise Failed("no unit of that name")
    samples = tables.take_turns(tasks, options.rounds or 5)
    tables.print_ours(samples, lambda _row, _column, its: f"{statistics.median(its):.3f} s")
    tables.print_beside(samples, " s")
