# SPDX-License-Identifier: MIT
"""Which calls take one path, whatever the input. Each call of tests/speed/costs/calls.hpp runs on the boards with the
inputs of hostile.cpp beside it, and the plugin of tests/speed/cycles hashes the addresses of all its instructions and of
the memory that they access."""
import re
import shutil
import types

from tests.speed import counting, programs
from tests.speed.costs import costs
from tests.support import targets
from tests.support.processes import ROOT, Failed

from . import parts

# Two hashes; divisions, long products, and floating-point operations that IT may skip; the core; its cycles, or their
# lower bound
TRACE = re.compile(r"^trace (\w+) (\w+) (\d+) (\d+) (\d+)\n\d+ ([\w-]+)=(\d+)", re.MULTILINE)
INPUTS = 12


def cell(printed):
    """Returns how many paths a call took, and what the slowest took more than the fastest."""
    paths, addresses, divisions, products, conditional, core, cycles = zip(*TRACE.findall(printed), strict=True)
    if len(paths) != INPUTS:
        raise Failed(f"{len(paths)} of {INPUTS} inputs ran")
    more = 100 * (max(map(int, cycles)) / min(map(int, cycles)) - 1)
    if len(set(paths)) > 1:
        return f"{len(set(paths))}, +{float(f'{more:.2g}'):g} %"
    marks = {"a": len(set(addresses)) > 1, "c": any(map(int, conditional)), "d": any(map(int, divisions)),
             "p": core[0] == "cortex-m3" and any(map(int, products))}
    return " ".join(["one", *(mark for mark, is_so in marks.items() if is_so)])


def on_board(board, names):
    """Returns {call: its cell} for the calls that fit into the board."""
    build = programs.Build(targets.BUILDS[board], types.SimpleNamespace(trees={"ours": ROOT}, flags=""))
    names = [name for name in names if f"hostile_{name}" in build.targets]
    files = build.make(f"tests/products/footprint/hostile_{name}.txt" for name in names)
    return {name: cell(file.read_text(encoding="utf-8")) for name, file in zip(names, files, strict=True)}


def made():
    if not shutil.which("qemu-system-arm"):
        raise parts.Missing("there is no qemu-system-arm")
    calls = costs.calls()
    boards = {board: on_board(board, calls) for board in targets.boards()}
    rows = [(name, f"`{what}`", *(cells.get(name, "") for cells in boards.values())) for name, what in calls.items()]
    return parts.table(("name", "call", *map(costs.core, boards)), rows), []
