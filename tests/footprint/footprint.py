# SPDX-License-Identifier: MIT
"""What one attention layer adds to a firmware, on every board: symbols, flash, RAM, stack. Prints tables and the Test Anything Protocol.

    footprint.py [--write] -- COMPILER ARGUMENT...

The compiler is the host's, whose answer the firmware must repeat. --write notes today's figures in figures.txt.
"""
import concurrent.futures
import dataclasses
import functools
import itertools
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import boards
import contents
import costs

sys.path.insert(0, str(boards.ROOT / "tests" / "support"))
import tap  # noqa: E402

LAYERS = ["T0", "T1"]
LEVELS = ["-O2", "-Os"]
INCLUDE_RATIO = 3.0


@dataclasses.dataclass
class Measured:
    """A layer at an optimization level on a board."""

    case: tuple
    problem: str = ""
    faults: list = dataclasses.field(default_factory=list)
    helpers: list = dataclasses.field(default_factory=list)
    cost: costs.Cost = None
    crc: str = ""
    ran_on: str = ""


def layer_flag(layer):
    return f"-DTINYATTN_FOOTPRINT_LAYER={layer}"


def reported(output):
    """The lines of firmware.cpp: a name and a number."""
    return dict(re.findall(r"^(\w+) ([0-9a-f]{8})$", output, re.MULTILINE))


# --- Boards ---


class Bench:
    """A board with what its images share already built: the startup code, and each layer's firmware but for the layer."""

    def __init__(self, name, scratch):
        self.board = boards.Board(name, scratch / name)
        self.startup = self.board.compile_startup() + [self.compile("painted_stack.cpp", "painted_stack.o", "-Os")]
        self.firmware, self.without = {}, {}
        for layer in LAYERS:
            self.firmware[layer] = self.startup + [self.compile("firmware.cpp", f"{layer}-firmware.o", "-Os", layer_flag(layer))]
            empty = self.compile("empty.cpp", f"{layer}-empty.o", "-Os", layer_flag(layer))
            self.without[layer], _ = self.board.link_firmware([*self.firmware[layer], empty], f"{layer}-without.elf")

    def compile(self, source, name, *flags):
        return self.board.compile(boards.HERE / source, name, *flags)

    def measure(self, layer, level, measured):
        board = self.board
        compiled = self.compile("layer.cpp", f"{layer}{level}.o", level, layer_flag(layer), *boards.EVERYTHING_ON)
        measured.helpers = contents.helpers(board, compiled)
        measured.faults = contents.problems_of_object(board, compiled)
        if measured.faults:
            raise boards.BuildError("not linked: see what it holds")
        image, measured.ran_on = board.link_firmware([*self.firmware[layer], compiled], f"{layer}{level}.elf")
        measured.faults = contents.problems_of_growth(board, image, self.without[layer])
        report = reported(boards.run(image, measured.ran_on))
        measured.crc = report["crc"]
        measured.cost = costs.Cost(
            flash=contents.flash(board, image) - contents.flash(board, self.without[layer]),
            scratch=int(report["scratch"], 16),
            stack=int(report["stack"], 16),
            static=contents.static_ram(board, image) - contents.static_ram(board, self.without[layer]))


def measure(bench, layer, level):
    measured = Measured((bench.board.name, layer, level))
    try:
        bench.measure(layer, level, measured)
    except boards.BuildError as error:
        measured.problem = str(error)
    return measured


# --- Kernels ---


KERNEL_PREFIX = "one_"


def kernel_sizes(bench, level):
    """What the linker keeps if a kernel is all that a program calls: (size of each, problems)."""
    board = bench.board
    compiled = bench.compile("kernels.cpp", f"kernels{level}.o", level, *boards.EVERYTHING_ON)
    sizes = {}
    for symbol in contents.symbols(board, compiled):
        if symbol.kind == "T" and symbol.name.startswith(KERNEL_PREFIX):
            image = board.link([compiled, board.folder / "memory.o"], f"{symbol.name}{level}.elf", f"-Wl,--entry={symbol.name}")
            sizes[symbol.name.removeprefix(KERNEL_PREFIX)] = sum(
                size for name, _, _, size in contents.sections(board, image) if not name.startswith(".ARM"))
    return sizes, contents.problems_of_object(board, compiled)


# --- The host ---


def host_crc(compiler, scratch, layer):
    program = scratch / layer
    sources = [boards.HERE / name for name in ("firmware.cpp", "layer.cpp", "unpainted_stack.cpp")]
    sources += sorted((boards.BOARDS / "host").glob("*.cpp"))
    boards.call([*compiler, *boards.LANGUAGE, "-O2", '-DBOARD_NAME="host"', layer_flag(layer), *sources, "-o", program])
    return reported(boards.call([program]))["crc"]


def seconds(compiler, text):
    """Of the processor's time, which other programs disturb less than the clock's."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*compiler, *boards.LANGUAGE, "-O0", "-c", "-x", "c++", "-", "-o", os.devnull], input=text, encoding="utf-8", check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def time_of_include(compiler):
    texts = ["#include <array>\n", '#include "tinyattn/tinyattn.hpp"\n']
    return [min(times) for times in zip(*([seconds(compiler, text) for text in texts] for _ in range(5)))]


# --- Tables ---


def say(text=""):
    for line in text.splitlines() or [""]:
        print(f"# {line}".rstrip())


def figure(size, limit, width):
    return f"{size if limit is None else f'{size}/{limit[0]}':>{width}}"


def cost_table(all_measured, figures):
    say("What one attention layer adds, in bytes / at most. flash: code and constants, how much the image grows by the call, with every")
    say("helper it brings. RAM: scratch, the stack that the call takes (painted), and static (variables of the library or of a libc).")
    say()
    say(f"{'board':<12} {'layer':<5} {'level':<5} {'flash':>11} {'scratch':>13} {'stack':>9} {'static':>8} {'RAM in all':>11}")
    for measured in all_measured:
        board, layer, level = measured.case
        if not measured.cost:
            say(f"{board:<12} {layer:<5} {level:<5} not measured")
            continue
        allowed = costs.limits(measured.case, figures)
        columns = [figure(size, allowed.get(what), width) for (what, size), width in zip(measured.cost.items(), (11, 13, 9, 8))]
        ram = measured.cost.scratch + measured.cost.stack + measured.cost.static
        note = "" if measured.ran_on == board else f"  too large for its RAM; ran on {measured.ran_on}"
        say(f"{board:<12} {layer:<5} {level:<5} {' '.join(columns)} {ram:>11}{note}")


def helper_table(all_measured):
    say()
    say("What the layer calls of the compiler's own library, and of what a program without a libc must bring (memset and its like)")
    say()
    for board, of_board in itertools.groupby(all_measured, key=lambda measured: measured.case[0]):
        names = {name for measured in of_board for name in measured.helpers}
        say(f"{board:<12} {' '.join(sorted(names)) or 'nothing'}")


def kernel_table(kernels):
    """kernels: {(board, level): sizes}"""
    columns = sorted({board for board, _ in kernels})
    rows = sorted({name for sizes in kernels.values() for name in sizes})
    say()
    say("Each kernel as all that a program calls, in bytes of flash at -O2 and -Os")
    say()
    say(" ".join([f"{'':<24}", *(f"{board:>12}" for board in columns)]))
    for name in rows:
        cells = ["/".join(str(kernels[board, level].get(name, "-")) for level in LEVELS) for board in columns]
        say(" ".join([f"{name.replace('_', ' '):<24}", *(f"{cell:>12}" for cell in cells)]))


# --- Checks: each returns what is wrong, or nothing ---


def check_contents(measured):
    return "\n".join(measured.faults) or measured.problem


def check_cost(measured, figures):
    return "\n".join(costs.excesses(measured.cost, costs.limits(measured.case, figures))) if measured.cost else "not measured"


def check_answer(measured, expected):
    return "" if measured.crc == expected else f"CRC of the output: {measured.crc or 'none'}, on the host {expected}"


def check_fault(source, benches):
    """A planted fault must be found, in the words that its first lines state: // found: ...; on the board // board: ..."""
    stated = dict(re.findall(r"^// (found|board): (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE))
    bench = next((bench for bench in benches if bench.board.name == stated["board"]), None)
    if not bench:
        return f"no board {stated['board']}"
    compiled = bench.board.compile(source, f"fault-{source.stem}.o", "-O2", *boards.EVERYTHING_ON)
    found = contents.problems_of_object(bench.board, compiled)
    return "" if stated["found"] in found else "\n".join([f"not found: {stated['found']}", *found])


def check_growth_is_found():
    """The limits themselves: a byte too many of anything must be found."""
    case, cost = next(iter(costs.PROMISES.items()))
    one_more = [dataclasses.replace(cost, **{what: size + 1}) for what, size in cost.items()]
    found = [len(costs.excesses(grown, costs.limits(case, {}))) for grown in one_more]
    return "" if found == [1] * len(found) and not costs.excesses(cost, costs.limits(case, {})) else f"excesses found: {found}"


def check_include(times):
    ratio = times[1] / times[0]
    return "" if ratio <= INCLUDE_RATIO else f"{ratio:.1f} times as long as <array> takes; at most {INCLUDE_RATIO}"


def main(arguments):
    separator = arguments.index("--")
    compiler = arguments[separator + 1:]
    times = time_of_include(compiler)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        scratch = pathlib.Path(folder)
        expected = dict(zip(LAYERS, pool.map(lambda layer: host_crc(compiler, scratch, layer), LAYERS)))
        benches = list(pool.map(lambda name: Bench(name, scratch), boards.names()))
        all_measured = list(pool.map(lambda what: measure(*what), itertools.product(benches, LAYERS, LEVELS)))
        kernels = dict(zip(((bench.board.name, level) for bench in benches for level in LEVELS),
                           pool.map(lambda what: kernel_sizes(*what), itertools.product(benches, LEVELS))))
        compiled_with = costs.compiler_version(benches[0].board)
        known_with, known = costs.read_figures()
        if "--write" in arguments[:separator]:
            known_with, known = compiled_with, {measured.case: measured.cost for measured in all_measured if measured.cost}
            costs.write_figures(known_with, known)
        figures = known if known_with == compiled_with else {}

        cost_table(all_measured, figures)
        helper_table(all_measured)
        kernel_table({key: sizes for key, (sizes, _) in kernels.items()})
        say()
        say(f"one include of tinyattn.hpp: {times[1]:.2f} s, {times[1] / times[0]:.1f} times that of <array>")
        if not figures:
            say(f"figures.txt is of GCC {known_with}; this is GCC {compiled_with}: only what is promised is held")
        for measured in all_measured if figures else []:
            for change in costs.changes(measured.case, measured.cost, figures) if measured.cost else []:
                say(f"changed: {change}")

        checks = []
        for measured in all_measured:
            name = " ".join(measured.case)
            checks += [(f"{name}: nothing in it that firmware must not hold", functools.partial(check_contents, measured)),
                       (f"{name}: no larger than it may be", functools.partial(check_cost, measured, figures)),
                       (f"{name}: the answer of the host", functools.partial(check_answer, measured, expected[measured.case[1]]))]
        for (board, level), (_, problems) in kernels.items():
            checks.append((f"{board} kernels {level}: nothing in them that firmware must not hold", lambda problems=problems: "\n".join(problems)))
        checks += [(f"a planted fault is found: {source.stem.replace('_', ' ')}", functools.partial(check_fault, source, benches))
                   for source in sorted((boards.HERE / "faults").glob("*.cpp"))]
        checks += [("a planted fault is found: a byte too many", check_growth_is_found),
                   ("one include takes no long time", functools.partial(check_include, times))]
        tap.report(checks)


if __name__ == "__main__":
    main(sys.argv[1:])
