# SPDX-License-Identifier: MIT
"""What a layer costs, what it may cost, and what it cost before."""
import dataclasses
import math
import re

from boards import HERE, call

FIGURES = HERE / "figures.txt"
HEAD = """# SPDX-License-Identifier: MIT
#
# What a layer cost when someone last looked, in bytes. footprint.py holds every build to it, and writes it anew with --write.
# Growth beyond a few percent fails: so it is written down on purpose, or not at all.
"""


@dataclasses.dataclass(frozen=True)
class Cost:
    flash: int  # code and constants, helpers of the compiler's library among them
    scratch: int  # the workspace
    stack: int  # that the call takes
    static: int  # variables of the library, or of a libc

    def items(self):
        return dataclasses.asdict(self).items()

    def ram(self):
        return self.scratch + self.stack + self.static


# What the project promises, for the core on which it has peers.
PROMISES = {
    ("mps2-an386", "T1", "-O2"): Cost(2000, 18000, 320, 0),
    ("mps2-an386", "T1", "-Os"): Cost(1400, 18000, 320, 0),
}


def with_margin(cost):
    """A few instructions may move and a register more may be saved. Scratch and variables are a decision."""
    return Cost(math.ceil(cost.flash * 1.03), cost.scratch, cost.stack + 16, cost.static)


def compiler_version(board):
    """A release of GCC: another one makes other code, which the figures say nothing about."""
    return call([board.tool("g++"), "-dumpversion"]).split(".")[0]


def read_figures():
    """The compiler they were taken with, and the cost for each board, layer and optimization level."""
    compiler, figures = "", {}
    for line in FIGURES.read_text(encoding="utf-8").splitlines() if FIGURES.is_file() else []:
        words = line.split()
        if words[:1] == ["compiler"]:
            compiler = words[1]
        elif re.fullmatch(r"(\S+ +){3}\d+( +\d+){3}", line):
            figures[tuple(words[:3])] = Cost(*map(int, words[3:]))
    return compiler, figures


def write_figures(compiler, costs):
    rows = [f"{board:<12} {layer:<6} {level:<6} {cost.flash:>6} {cost.scratch:>8} {cost.stack:>6} {cost.static:>7}"
            for (board, layer, level), cost in sorted(costs.items())]
    columns = "# board      layer  level   flash  scratch  stack  static"
    FIGURES.write_text("\n".join([f"{HEAD}compiler {compiler}", "", columns, *rows, ""]), encoding="utf-8")


def limit(case, figures):
    """What is promised; else what it cost before, with a margin; else nothing."""
    if case in PROMISES:
        return PROMISES[case]
    return with_margin(figures[case]) if case in figures else None


def excesses(cost, allowed):
    if not allowed:
        return []
    return [f"{what}: {size} bytes, {size - most} more than {most}"
            for (what, size), most in zip(cost.items(), dataclasses.astuple(allowed)) if size > most]


def changes(case, cost, figures):
    before = figures.get(case)
    if not before:
        return [f"{' '.join(case)}: new"]
    return [f"{' '.join(case)}: {what} was {old}, is {size}" for (what, size), old in zip(cost.items(), dataclasses.astuple(before))
            if size != old]
