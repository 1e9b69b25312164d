# SPDX-License-Identifier: MIT
"""What one attention layer adds, or a whole model, to a firmware, on every board: symbols, flash, RAM, stack. Prints a table and the Test Anything Protocol.

    footprint.py [--write]      and notes today's figures in figures.txt
"""
import math
import pathlib
import re
import shutil
import sys
import tempfile
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import building  # noqa: E402
import contents  # noqa: E402
import tap  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FIGURES = HERE / "figures.txt"
MISTAKES = re.findall(r"^// found on (\S+): (.+)$", (HERE / "mistakes.cpp").read_text(encoding="utf-8"), re.MULTILINE)
LAYERS = {"T0": 0, "T1": 128 * 1024, "TOKEN": 2048 * 1024}  # and the RAM that a board needs for it
CASES = [(board, layer, level) for board in building.boards() for layer, memory in LAYERS.items() for level in ("-O2", "-Os")
         if building.board(board).memory >= memory]


class Cost(typing.NamedTuple):
    flash: int  # code and constants, helpers of the compiler's library among them
    scratch: int  # the workspace
    stack: int  # that the call takes


class Layer:
    """The layer on a board, at an optimization level. Declares what to build; its functions read what was made."""

    def __init__(self, build, case):
        self.case = board, layer, level = case
        self.machine = building.board(board)
        flags = (*building.language(), f"-DTINYATTN_FOOTPRINT_LAYER={layer}")
        firmware = [*build.support(self.machine), build.compile(self.machine, HERE / "firmware.cpp", *flags, "-Os")]
        self.compiled = build.compile(self.machine, HERE / "layer.cpp", *flags, level, *contents.EVERYTHING_ON)
        self.without = build.link(self.machine, f"{board}{layer}-without", firmware)
        self.image = build.link(self.machine, "".join(case), [*firmware, self.compiled])
        self.said = build.run(self.machine, self.image)

    def cost(self):
        said = dict(re.findall(r"^(\w+) (\w{8})$", self.said.read_text(encoding="utf-8"), re.MULTILINE))
        growth = contents.flash(self.machine, self.image) - contents.flash(self.machine, self.without)
        return Cost(growth, int(said["scratch"], 16), int(said["stack"], 16))

    def unwanted(self):
        return [*contents.unwanted_in_object(self.machine, self.compiled),
                *contents.unwanted_in_growth(self.machine, self.image, self.without, self.compiled)]


# What the project promises, for the core on which it has peers.
PROMISES = {("mps2-an386", "T1", "-O2"): Cost(2000, 18000, 320), ("mps2-an386", "T1", "-Os"): Cost(1400, 18000, 320)}


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
    costs = re.findall(r"^(\S+) +(T\w+) +(-O\w) +(\d+) +(\d+) +(\d+)", text, re.MULTILINE)
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
        if layer.case in limits:
            yield f"{name}: no larger than it may be", excesses(costs[layer.case], limits[layer.case])
        elif limits != PROMISES:
            yield f"{name}: no larger than it may be", ["figures.txt does not have it: --write adds it"]
    for board, compiled in kernels.items():
        yield f"{board} kernels: nothing in them that firmware must not hold", contents.unwanted_in_object(building.board(board), compiled)
    for board, sentence in MISTAKES:
        found = contents.unwanted_in_object(building.board(board), mistakes[board])
        yield f"{board} mistakes: {sentence}", [] if sentence in found else ["not found, but:", *found]


for tool in ("arm-none-eabi-g++", "qemu-system-arm"):
    if not shutil.which(tool):
        tap.report([("footprint", tap.Skip, f"there is no {tool}")])
with tempfile.TemporaryDirectory() as folder:
    tree = building.Build(folder)
    built = [Layer(tree, case) for case in CASES]
    objects = [{board: tree.compile(building.board(board), HERE / source, *building.language(), *contents.EVERYTHING_ON, level)
                for board in building.boards()} for source, level in (("kernels.cpp", "-Os"), ("mistakes.cpp", "-O2"))]
    if failed := tree.make():
        tap.report([(f"{made.name} is made", str, said) for made, said in failed.items()])
    measured = {layer.case: layer.cost() for layer in built}
    figures = table(built, measured)
    print("# What one attention layer adds to a firmware, in bytes. flash is what the image grows by, with every helper that comes along;\n"
          "# scratch the workspace; stack what the call takes, painted. It has no variables.\n#\n# " + figures.replace("\n", "\n# "))
    if "--write" in sys.argv:
        head = FIGURES.read_text(encoding="utf-8").partition("compiler ")[0]
        FIGURES.write_text(f"{head}{compiler_release()}\n\n{figures}", encoding="utf-8")
    tap.report([(name, "\n".join, found) for name, found in problems(built, measured, *objects)])
