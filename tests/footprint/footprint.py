# SPDX-License-Identifier: MIT
"""What one attention layer adds to a firmware, on every board: symbols, flash, RAM, stack. Prints tables and the Test Anything Protocol.

    footprint.py [--write] -- COMPILER ARGUMENT...

The compiler is the host's, whose answer the firmware must repeat. --write notes today's figures in figures.txt.
"""
import math
import os
import pathlib
import re
import shutil
import sys
import tempfile
from functools import partial

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import building  # noqa: E402
import contents  # noqa: E402
import tap  # noqa: E402
from measuring import CASES, EVERYTHING_ON, HERE, LAYERS, Cost, Layer, language, reported  # noqa: E402

FIGURES = HERE / "figures.txt"
# What the project promises, for the core on which it has peers.
PROMISES = {
    ("mps2-an386", "T1", "-O2"): Cost(2000, 18000, 320, 0),
    ("mps2-an386", "T1", "-Os"): Cost(1400, 18000, 320, 0),
}
MISTAKES = re.findall(r"^// found on (\S+): (.+)$", (HERE / "mistakes.cpp").read_text(encoding="utf-8"), re.MULTILINE)
INCLUDE_RATIO = 3.0


def compiler_release():
    """Another release of GCC makes other code, which the figures say nothing about."""
    return "compiler " + building.call(["arm-none-eabi-g++", "-dumpversion"]).split(".")[0]


def write_figures(costs):
    head = FIGURES.read_text(encoding="utf-8").partition("compiler ")[0]
    rows = [f"{board:<12} {layer:<6} {level:<6} {cost.flash:>6} {cost.scratch:>8} {cost.stack:>6} {cost.static:>7}\n"
            for (board, layer, level), cost in sorted(costs.items())]
    columns = "# board      layer  level   flash  scratch  stack  static\n"
    FIGURES.write_text("".join([head, compiler_release(), "\n\n", columns, *rows]), encoding="utf-8")


def read_limits():
    """{case: cost}: what is promised; else what it was, where a few instructions may move and a register more may be saved."""
    text = FIGURES.read_text(encoding="utf-8")
    if compiler_release() not in text.splitlines():
        print("# figures.txt is of another GCC: only what is promised is held")
        return PROMISES
    rows = re.findall(r"^(\w\S+) +(\w+) +(-\w+)" + r" +(\d+)" * 4 + "$", text, re.MULTILINE)
    costs = {row[:3]: Cost(*map(int, row[3:])) for row in rows}
    return {case: cost._replace(flash=math.ceil(cost.flash * 1.03), stack=cost.stack + 16) for case, cost in costs.items()} | PROMISES


def excesses(cost, most):
    return [f"{what}: {size} bytes, {size - at_most} more than {at_most}"
            for what, size, at_most in zip(Cost._fields, cost, most) if size > at_most]


def print_costs(layers, costs, limits):
    """Beside the limits, and with the helpers that the README speaks of."""
    print("# What one attention layer adds to a firmware, in bytes: size/limit. flash is what the image grows by, with every helper\n"
          "# that comes along; scratch the workspace; stack what the call takes, painted; static the variables of the library and\n"
          "# of a libc; then what it calls of the compiler's own library.\n#")
    print(f"# {'':<18}" + "".join(f"{what:>13}" for what in Cost._fields))
    for layer in layers:
        most = limits.get(layer.case, ("-",) * len(Cost._fields))
        sizes = "".join(f"{f'{size}/{limit}':>13}" for size, limit in zip(costs[layer.case], most))
        print(f"# {' '.join(layer.case):<18}{sizes}  {' '.join(contents.helpers(layer.machine, layer.compiled))}".rstrip())


def unwanted_in_layer(layer):
    brought_along = contents.unwanted_in_growth(layer.machine, layer.image, layer.without)
    return contents.unwanted_in_object(layer.machine, layer.compiled) + brought_along


def problems(layers, costs, limits, answers):
    """Of each check of the layers."""
    for layer in layers:
        name = " ".join(layer.case)
        yield f"{name}: nothing in it that firmware must not hold", unwanted_in_layer(layer)
        yield f"{name}: no larger than it may be", excesses(costs[layer.case], limits.get(layer.case, ()))
        crc, expected = (reported(said)["crc"] for said in (layer.said, answers[layer.case[1]]))
        yield f"{name}: the answer of the host", [f"CRC of the output: {crc:08x}, on the host {expected:08x}"] if crc != expected else []


def problems_of_objects(kernels, mistakes):
    """Of the functions beside a layer; and whether each mistake would be found. Both: {board: object}"""
    for board, compiled in kernels.items():
        yield f"{board} kernels: nothing in them that firmware must not hold", contents.unwanted_in_object(building.board(board), compiled)
    found = {board: contents.unwanted_in_object(building.board(board), compiled) for board, compiled in mistakes.items()}
    for board, sentence in MISTAKES:
        yield f"{board} mistakes: {sentence}", ["not found, but:", *found[board]] if sentence not in found[board] else []
    most = Cost(4, 3, 2, 1)
    too_many, none = excesses(Cost(5, 4, 3, 2), most), excesses(most, most)
    yield "mistakes: one byte too many", [f"found {too_many} and {none}"] if len(too_many) != 4 or none else []


def problems_of_include(compiler):
    """Against <array>, in turns, and with nothing else beside them."""
    command = [*compiler, *building.language(), "-O0", "-c", "-x", "c++", "-", "-o", os.devnull]
    rounds = [[building.processor_seconds(command, text=f"#include {header}\n") for header in ("<array>", '"tinyattn/tinyattn.hpp"')]
              for _ in range(5)]
    of_array, of_ours = map(min, zip(*rounds))
    said = f"{of_ours:.2f} s of processor time, {of_ours / of_array:.1f} times that of <array>"
    print(f"# One include of tinyattn.hpp takes {said}\n#")
    yield "one include takes no long time", [said] if of_ours > INCLUDE_RATIO * of_array else []


def main(arguments):
    separator = arguments.index("--")
    compiler = arguments[separator + 1:]
    for tool in (compiler[0], "arm-none-eabi-g++", "qemu-system-arm"):
        if not shutil.which(tool):
            tap.report([("footprint", lambda: tap.Skip(f"there is no {tool}"))])
    found = list(problems_of_include(compiler))
    with tempfile.TemporaryDirectory() as folder:
        build = building.Build(folder)
        host = building.host(compiler)
        sources = [HERE / "firmware.cpp", HERE / "layer.cpp"]
        answers = {layer: build.run(host, build.program(host, layer, sources, *language(layer), "-O2")) for layer in LAYERS}
        layers = [Layer(build, case) for case in CASES]
        kernels, mistakes = ({board: build.compile(building.board(board), HERE / source, *building.language(), *EVERYTHING_ON, level)
                              for board in building.boards()} for source, level in (("kernels.cpp", "-Os"), ("mistakes.cpp", "-O2")))
        failed = build.make()
        if failed:
            tap.report([(f"{file.name} is made", partial(str, said)) for file, said in failed.items()])
        costs = {layer.case: layer.cost() for layer in layers}
        if "--write" in arguments[:separator]:
            write_figures(costs)
        limits = read_limits()
        print_costs(layers, costs, limits)
        found += [*problems(layers, costs, limits, answers), *problems_of_objects(kernels, mistakes)]
    tap.report([(name, partial("\n".join, said)) for name, said in found])


if __name__ == "__main__":
    main(sys.argv[1:])
