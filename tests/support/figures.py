# SPDX-License-Identifier: MIT
"""Compares what an example takes on a board with what its page says: they must agree to 2 %.

    figures [--write] BOARD CLOCK_HZ PAGE PROGRAM PRINTED COUNTER CORE CALLS
                         for Meson: checks the board's row of the page's table; --write replaces it by figures of three
                         digits

PRINTED is a file with the output of the example on the board, which has its instructions and stack. COUNTER is the
plugin of tests/speed/cycles, CORE its model, and CALLS how often a step of the example asks for the time.
"""
import itertools
import pathlib
import re
import shlex
import subprocess
import sys

from tests.products.footprint import contents
from tests.support import tap, targets
from tests.support.processes import call

NEAR = 0.02
SECTIONS = {"flash": (".vectors", ".text", ".rodata", ".init_array", ".data"), "RAM": (".data", ".bss")}
LINES = {"cache": "bytes of cache", "stack": "bytes of stack", "instructions": "instructions",
         "each": "instructions a (?:character|second of sound)"}


def number(text):
    return float(text.replace(",", ""))


def bounds(value):
    """Returns the numbers of a value, which is one or a range."""
    return value if isinstance(value, list) else [value]


def shown(value):
    """Returns a value as a page has it: three digits, `1,230` or `1,230 to 1,450`."""
    return " to ".join(dict.fromkeys(f"{float(f'{one:.3g}'):,.10g}" for one in bounds(value)))


def is_near(cell, value):
    said = [number(one) for one in cell.split(" to ")]
    return all(abs(one / measured - 1) <= NEAR
               for one, measured in itertools.zip_longest(said, bounds(value), fillvalue=said[-1]))


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def cycles_of_an_instruction(board, program, counter, core, calls):
    """Runs the example once more, for at most 150 steps. Returns how many cycles an instruction takes in these: one
    number, or two bounds."""
    command = [*targets.emulator(board), program, "-d", "plugin", "-plugin", f"{counter},core={core},at=board_ticks"]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True, "errors": "replace"}
    with subprocess.Popen(command, **streams) as run:
        lines = filter(None, (re.fullmatch(rf"(\d+) {core}=(\S+)\n", line) for line in run.stdout))
        counted = [[int(line[1]), *map(int, line[2].split(".."))] for line in itertools.islice(lines, 150 * calls)]
        run.kill()
    steps = [[later - earlier for earlier, later in zip(*pair, strict=True)]
             for number, pair in enumerate(itertools.pairwise(counted), 1) if number % calls]
    instructions, *cycles = map(sum, zip(*steps, strict=True))
    return [its / instructions for its in cycles]


def measure(clock_hz, program, printed, rates):
    """Measures what the example takes; `rates` are cycles of an instruction. Returns {column: number, or bounds}."""
    sizes = {name: size for name, _, size in contents.sections(program)}
    text = pathlib.Path(printed).read_text(encoding="utf-8")
    values = {column: sum(sizes.get(name, 0) for name in names) for column, names in SECTIONS.items()}
    for column, what in LINES.items():
        if line := re.search(rf"^board: ([\d,]+) {what}", text, re.MULTILINE):
            values[column] = number(line[1])
    each = values.pop("each", values["instructions"])
    a_second = sorted(int(clock_hz) / (each * rate) for rate in rates)
    return values | {"cycles": [values["instructions"] * rate for rate in rates],
                     "a second": a_second, "times real time": a_second}


def row_of(text, board, values):
    """Returns the board's row of a page, and (title, cell, value) of its columns. A value's name begins the title of
    its column: `instructions per image` is `instructions`. A column without a value has None."""
    head, row = (re.search(rf"^\| {name} \|.*", text, re.MULTILINE)[0] for name in ("board", board))
    return row, [(title, cell, next((value for name, value in values.items() if title.startswith(name)), None))
                 for title, cell in zip(cells(head), cells(row), strict=True)]


def write(page, board, values):
    text = page.read_text(encoding="utf-8")
    row, columns = row_of(text, board, values)
    written = [cell if value is None else shown(value) for _, cell, value in columns]
    page.write_text(text.replace(row, f"| {' | '.join(written)} |"), encoding="utf-8")


def is_of_another_compiler(page):
    """Returns why a page does not apply, if it names another release of GCC, which generates other code; else an empty
    string."""
    here = call(["arm-none-eabi-g++", "-dumpversion"]).split(".")[0]
    return "" if f"GCC {here}" in page.read_text(encoding="utf-8") else f"the page speaks of another GCC than {here}"


def differences(page, board, values):
    _, columns = row_of(page.read_text(encoding="utf-8"), board, values)
    return [f"{title}: {cell}, measured {shown(value)}" for title, cell, value in columns
            if value is not None and not is_near(cell, value)]


def holds(page, board, values, again):
    if reason := is_of_another_compiler(page):
        return tap.Skip(reason)
    found = differences(page, board, values)
    return "\n".join([*found, again]) if found else ""


def main(arguments):
    row, clock_hz, page, program, printed, counter, core, calls = (word for word in arguments if word != "--write")
    rates = cycles_of_an_instruction(row.partition(",")[0], program, counter, core, int(calls))
    page, values = pathlib.Path(page), measure(clock_hz, program, printed, rates)
    if "--write" in arguments:
        write(page, row, values)
    command = shlex.join(["python3", "-B", "-m", "tests.support.figures", "--write", *arguments])
    tap.report([(f"{page.parent.name} on {row} takes what {page.name} says", holds, page, row, values,
                 f"write it anew: {command}")])


if __name__ == "__main__":
    main(sys.argv[1:])
