# SPDX-License-Identifier: MIT
"""Tests what an attention layer or a whole model adds to a firmware on a board: symbols, flash, RAM, stack. Prints a
table and the Test Anything Protocol.

    footprint [--write] BOARD FPU KERNELS MISTAKES (LAYER LEVEL WITHOUT COMPILED IMAGE PRINTED)...

Meson calls it with the files that it built. --write stores the figures of the board in figures.txt.
"""
import math
import pathlib
import re
import sys
import typing

from tests.products.footprint import contents
from tests.support import tap
from tests.support.processes import call

HERE = pathlib.Path(__file__).resolve().parent
FIGURES = HERE / "figures.txt"
ROW = re.compile(r"^(\S+) +(T\w+) +(-O\w) +(\d+) +(\d+) +(\d+).*\n", re.MULTILINE)


class Cost(typing.NamedTuple):
    flash: int  # code and constants, with helpers of the compiler's library
    scratch: int  # the workspace
    stack: int  # of the call


# Promised limits, for the core on which the project is compared with others.
PROMISES = {("mps2-an386", "T1", "-O2"): Cost(2000, 18000, 320), ("mps2-an386", "T1", "-Os"): Cost(1400, 18000, 320)}


class Layer(typing.NamedTuple):
    """The files of a layer that was built for the board at an optimization level."""

    name: str
    level: str
    without: str  # the firmware without the layer
    compiled: str
    image: str
    printed: str  # what the firmware printed

    def cost(self):
        printed = dict(re.findall(r"^(\w+) (\w{8})$", pathlib.Path(self.printed).read_text(encoding="utf-8"),
                                  re.MULTILINE))
        growth = contents.flash(self.image) - contents.flash(self.without)
        return Cost(growth, int(printed["scratch"], 16), int(printed["stack"], 16))

    def unwanted(self, has_fpu):
        return [*contents.unwanted_in_object(self.compiled, has_fpu),
                *contents.unwanted_in_growth(self.image, self.without, self.compiled, has_fpu)]


def row(board, layer, cost):
    """Returns the row of figures.txt, with the layer's helpers, which the README lists."""
    helpers = " ".join(sorted(contents.symbols(layer.compiled, "undefined")))
    cells = "{:<12} {:<6} {:<6} {:>8} {:>8} {:>8}  {}".format(board, layer.name, layer.level, *cost, helpers)
    return cells.rstrip() + "\n"


def compiler_release():
    """Returns the line of figures.txt that names the release of GCC. Another release generates other code."""
    return "compiler " + call(["arm-none-eabi-g++", "-dumpversion"]).split(".")[0]


def read_limits():
    """Returns {case: the Cost that it must not exceed}: the promised one, or the one in figures.txt plus 3 % of flash
    and 16 bytes of stack."""
    text = FIGURES.read_text(encoding="utf-8")
    if compiler_release() not in text.splitlines():
        print("# figures.txt is of another GCC: only what is promised is held")
        return PROMISES
    limits = {(board, layer, level): Cost(math.ceil(int(flash) * 1.03), int(scratch), int(stack) + 16)
              for board, layer, level, flash, scratch, stack in ROW.findall(text)}
    return limits | PROMISES


def write(board, rows):
    """Replaces the figures of a board in figures.txt."""
    text = FIGURES.read_text(encoding="utf-8")
    others = [match[0] for match in ROW.finditer(text) if match[1] != board]
    head = re.sub(r"^compiler \d+", compiler_release(), ROW.sub("", text), flags=re.MULTILINE)
    FIGURES.write_text(head + "".join(sorted([*others, *rows])), encoding="utf-8")


def excesses(cost, most):
    return [f"{what}: {size} bytes, more than {at_most}"
            for what, size, at_most in zip(Cost._fields, cost, most) if size > at_most]


def problems(board, costs, has_fpu, kernels, mistakes):
    """Yields the name and the problem of each check."""
    limits = read_limits()
    for layer, cost in costs.items():
        case = board, layer.name, layer.level
        yield f"{' '.join(case)}: nothing in it that firmware must not hold", layer.unwanted(has_fpu)
        if case in limits:
            yield f"{' '.join(case)}: no larger than it may be", excesses(cost, limits[case])
        elif limits != PROMISES:
            yield f"{' '.join(case)}: no larger than it may be", ["figures.txt does not have it: --write adds it"]
    yield f"{board} kernels: nothing in them that firmware must not hold", contents.unwanted_in_object(kernels, has_fpu)
    sentences = re.findall(rf"^// found on {board}: (.+)$", (HERE / "mistakes.cpp").read_text(encoding="utf-8"),
                           re.MULTILINE)
    found = contents.unwanted_in_object(mistakes, has_fpu)
    for sentence in sentences:
        yield f"{board} mistakes: {sentence}", [] if sentence in found else ["not found, but:", *found]


def main(arguments):
    board, fpu, kernels, mistakes, *files = (argument for argument in arguments if argument != "--write")
    layers = [Layer(*files[first:first + 6]) for first in range(0, len(files), 6)]
    costs = {layer: layer.cost() for layer in layers}
    rows = [row(board, layer, cost) for layer, cost in costs.items()]
    print("# What one attention layer adds to a firmware, in bytes: flash, with every helper; scratch; stack, painted.")
    print("".join(f"# {line}" for line in rows), end="")
    if "--write" in arguments:
        write(board, rows)
    tap.report([(name, "\n".join(found)) for name, found in problems(board, costs, fpu == "FPU", kernels, mistakes)])


if __name__ == "__main__":
    main(sys.argv[1:])
