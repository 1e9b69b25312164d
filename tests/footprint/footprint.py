# SPDX-License-Identifier: MIT
"""What one attention layer adds to a firmware, on every board: symbols, flash, RAM, stack. Prints a table and the Test Anything Protocol.

    footprint.py [--write]      and notes today's figures in figures.txt
"""
import functools
import math
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import building  # noqa: E402
import contents  # noqa: E402
import tap  # noqa: E402
from measuring import CASES, EVERYTHING_ON, HERE, Cost, Layer  # noqa: E402

FIGURES = HERE / "figures.txt"
# What the project promises, for the core on which it has peers.
PROMISES = {("mps2-an386", "T1", "-O2"): Cost(2000, 18000, 320), ("mps2-an386", "T1", "-Os"): Cost(1400, 18000, 320)}
MISTAKES = re.findall(r"^// found on (\S+): (.+)$", (HERE / "mistakes.cpp").read_text(encoding="utf-8"), re.MULTILINE)


def table(layers, costs):
    """With the helpers, since the README speaks of them."""
    lines = [["board", "layer", "level", *Cost._fields, "what it calls of the compiler's own library"]]
    lines += [[*layer.case, *costs[layer.case], " ".join(sorted(contents.symbols(layer.machine, layer.compiled, "undefined")))]
              for layer in layers]
    return "".join("{:<12} {:<6} {:<6} {:>8} {:>8} {:>8}  {}".format(*line).rstrip() + "\n" for line in lines)


def compiler_release():
    """Another release of GCC makes other code, which the figures say nothing about."""
    return "compiler " + building.call(["arm-none-eabi-g++", "-dumpversion"]).split(".")[0]


def read_limits():
    """{case: cost}: what is promised; else what it was, where a few instructions may move and a register more may be saved."""
    text = FIGURES.read_text(encoding="utf-8")
    if compiler_release() not in text.splitlines():
        print("# figures.txt is of another GCC: only what is promised is held")
        return PROMISES
    costs = re.findall(r"^(\S+) +(T\d) +(-O\w) +(\d+) +(\d+) +(\d+)", text, re.MULTILINE)
    limits = {(board, layer, level): Cost(math.ceil(int(flash) * 1.03), int(scratch), int(stack) + 16)
              for board, layer, level, flash, scratch, stack in costs}
    return limits | PROMISES


def excesses(cost, most):
    return [f"{what}: {size} bytes, more than {at_most}" for what, size, at_most in zip(Cost._fields, cost, most) if size > at_most]


def problems(layers, costs, kernels, mistakes):
    """Of each check. Kernels and mistakes: {board: object}"""
    limits = read_limits()
    for layer in layers:
        name = " ".join(layer.case)
        yield f"{name}: nothing in it that firmware must not hold", layer.unwanted()
        yield f"{name}: no larger than it may be", excesses(costs[layer.case], limits.get(layer.case, ()))
    for board, compiled in kernels.items():
        yield f"{board} kernels: nothing in them that firmware must not hold", contents.unwanted_in_object(building.board(board), compiled)
    for board, sentence in MISTAKES:
        found = contents.unwanted_in_object(building.board(board), mistakes[board])
        yield f"{board} mistakes: {sentence}", [] if sentence in found else ["not found, but:", *found]


for tool in ("arm-none-eabi-g++", "qemu-system-arm"):
    if not shutil.which(tool):
        tap.report([("footprint", functools.partial(tap.Skip, f"there is no {tool}"))])
with tempfile.TemporaryDirectory() as folder:
    tree = building.Build(folder)
    built = [Layer(tree, case) for case in CASES]
    objects = [{board: tree.compile(building.board(board), HERE / source, *building.language(), *EVERYTHING_ON, level)
                for board in building.boards()} for source, level in (("kernels.cpp", "-Os"), ("mistakes.cpp", "-O2"))]
    if failed := tree.make():
        tap.report([(f"{made.name} is made", functools.partial(str, said)) for made, said in failed.items()])
    measured = {layer.case: layer.cost() for layer in built}
    figures = table(built, measured)
    print("# What one attention layer adds to a firmware, in bytes. flash is what the image grows by, with every helper that comes along;\n"
          "# scratch the workspace; stack what the call takes, painted. It has no variables.\n#\n# " + figures.replace("\n", "\n# "))
    if "--write" in sys.argv:
        head = FIGURES.read_text(encoding="utf-8").partition("compiler ")[0]
        FIGURES.write_text(f"{head}{compiler_release()}\n\n{figures}", encoding="utf-8")
    tap.report([(name, functools.partial("\n".join, found)) for name, found in problems(built, measured, *objects)])
