# SPDX-License-Identifier: MIT
"""The processor's time that compilers take for the bare headers, for a layer and for ten in one unit."""
import os
import random
import re
import statistics

import building
import tables
from rows import PROGRAMS, T1

HEADERS = ("-include", "tinyattn/tinyattn.hpp", "-x", "c++", os.devnull)
LAYER = (PROGRAMS / "tinyattn.cpp", *T1.flags())
TEN_LAYERS = (building.ROOT / "tests" / "compiled" / "firmware.cpp", "-DSHAPES=10")
FAST = ("g++ -O3 -march=native", "clang++ -O3 -march=native")
# {(what, by what): the command}
UNITS = {
    **{("headers", compiler): (*compiler.split(), *HEADERS) for compiler in ("g++ -O0", "clang++ -O0")},
    **{("T1", compiler): (*compiler.split(), *LAYER) for compiler in ("g++ -O2", *FAST)},
    ("T1", "M4F -Os"): (*building.board("mps2-an386").cpp, "-Os", *LAYER),
    **{("ten layers", compiler): (*compiler.split(), *TEN_LAYERS) for compiler in FAST},
}


def bench(options):
    """Trees take turns. Ten layers do in every third round only, and take the longest all the same."""
    names = [name for name in UNITS if re.search(options.filter, " ".join(name))]
    if not names:
        raise building.Failed("no unit of that name")
    samples = [{name: [] for name in names} for _ in options.trees]
    for turn in range(options.rounds or 15):
        for name in (name for name in names if turn % 3 == 0 or name[0] != "ten layers"):
            for tree, its_samples in random.sample(list(zip(options.trees, samples)), len(samples)):
                command = [*UNITS[name], *building.language(tree), *options.flags.split(), "-c", "-o", os.devnull]
                its_samples[name].append(building.processor_seconds(command))
    tables.print_table(["", "", "processor time"], [[*name, f"{statistics.median(taken):.3f} s"] for name, taken in samples[0].items()])
    tables.print_beside(samples, " s")
