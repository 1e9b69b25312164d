# SPDX-License-Identifier: MIT
"""Counts the instructions of rows, exactly, with the plugin programs/counter.cpp in QEMU."""
import dataclasses
import functools
import re

import building
import cores
import cycles
import rows as tables

NOTHING = tables.Row("nothing", "", "Nothing", 0)
INTERRUPTS = {"ticks_handler"}  # no part of a row
ESTIMATED = "M4F"


@dataclasses.dataclass(frozen=True)
class Block:
    start: int
    instructions: int
    runs: int
    followers: dict  # how often the block that starts there came next


@dataclasses.dataclass(frozen=True)
class Count:
    instructions: int
    cycles: int | None = None  # an estimate, for the core whose timings cycles.py knows


@functools.cache
def plugin():
    made = building.empty_folder("plugin") / "counter.so"
    building.call(["g++", "-std=c++20", "-O2", "-shared", "-fPIC", building.PROGRAMS / "counter.cpp", "-o", made])
    return made


def functions(core, program):
    """{name: (first address, address behind it)}"""
    listing = building.call([core.objdump, "-t", program])
    found = re.findall(r"^([0-9a-f]+)\s.*\s([0-9a-f]+)\s+(?:\.hidden\s+)?(\S+)$", listing, re.MULTILINE)
    return {name: (int(address, 16), int(address, 16) + int(size, 16)) for address, size, name in found}


def regions(text):
    """The blocks of each region in the plugin's report."""
    found = []
    for line in text.splitlines():
        if line == "region":
            found.append([])
        else:
            start, instructions, runs, *followers = map(int, line.split())
            found[-1].append(Block(start, instructions, runs, dict(zip(followers[::2], followers[1::2]))))
    return found


def run(core, program):
    """{row name: blocks}"""
    places = functions(core, program)
    report = program.with_suffix(".counts")
    options = f"{plugin()},begin={places['count_begin'][0]:#x},end={places['count_end'][0]:#x},out={report}"
    wrapper, *arguments = core.run
    names = building.call([wrapper, "-plugin", options, *arguments, program]).splitlines()
    found = regions(report.read_text(encoding="utf-8"))
    if len(names) != len(found):
        raise building.Failed(f"{program}: {len(names)} rows, but {len(found)} were counted")
    left_out = [places[name] for name in INTERRUPTS if name in places]
    return {name: [block for block in blocks if not any(first <= block.start < end for first, end in left_out)]
            for name, blocks in zip(names, found)}


def total(blocks):
    return sum(block.instructions * block.runs for block in blocks)


def build(core, flags, rows, folder):
    """flags: of the rows and of the program around them."""
    objects = building.compile_rows([*core.compile, *flags], "tinyattn.cpp", rows, folder)
    main = folder / "counted.o"
    building.call([*core.compile_main, *flags, "-c", building.PROGRAMS / "counted.cpp", "-o", main])
    program = folder / "counted.elf"
    building.call([*core.link, *core.support, main, *objects, *core.libraries, "-o", program])
    return program


def count(title, level, rows, flags, tree):
    """{row name: Count} on the core of that title, and the compiler. What a call of nothing takes is subtracted."""
    which = "boards" if tree == building.ROOT else "boards-beside"
    folder = building.empty_folder(which, re.sub(r"\W+", "-", f"{title} {level}"))
    core = cores.CORES[title](title, folder / "core")
    program = build(core, [*building.language(tree), level, *flags], [NOTHING, *rows], folder)
    blocks = run(core, program)
    timings = cycles.Timings(core.objdump, program) if title == ESTIMATED else None

    def beyond_nothing(measure, row):
        return measure(blocks[row.name]) - measure(blocks[NOTHING.name])

    counts = {row.name: Count(beyond_nothing(total, row), beyond_nothing(timings.of, row) if timings else None) for row in rows}
    return counts, core.compiler


# --- The table ---


def digits(number):
    return str(number) if isinstance(number, int) else f"{number:.2f}" if number < 10 else f"{number:.1f}"


def cell(row, title, count):
    figure, goal = row.per_unit(count.instructions), row.cores.get(title)
    if goal is None:
        return digits(figure)
    return f"{digits(figure)} {'≤' if figure <= goal else '>'} {digits(goal)}"


def table(rows, counts):
    """Rows by cores. counts: {title: {row name: Count}}"""
    titles = [heading for title in counts for heading in ([title, "its cycles"] if title == ESTIMATED else [title])]
    lines = [["", *titles]]
    for row in rows:
        cells = []
        for title, of_core in counts.items():
            cells.append(cell(row, title, of_core[row.name]))
            if title == ESTIMATED:
                cells.append(digits(row.per_unit(of_core[row.name].cycles)))
        lines.append([f"{row.name}, per {row.counted_unit}", *cells])
    return lines
