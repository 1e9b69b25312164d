# SPDX-License-Identifier: MIT
"""Counts the instructions of rows on emulated cores, exactly, by QEMU's plugin programs/counter.cpp."""
import itertools
import re
import shutil

from tests.speed import programs, rows, tables
from tests.speed.rows import NOTHING
from tests.support import targets
from tests.support.processes import call

CLANG = "clang++-19"  # GCC 12 miscompiles some of Helium; Clang before version 17 does not know enough of it
# {core: (its build, the way in which rows are built there)}
CORES = {
    "M3": (targets.board_build("mps2-an385"), "usual"),
    "M4F": (targets.board_build("mps2-an386"), "usual"),
    "M7": (targets.board_build("mps2-an500"), "usual"),
    "M33": (targets.board_build("mps2-an505"), "usual"),
    "M55": (targets.board_build("mps3-an547"), "nomve"),
    "M55 Helium": (targets.board_build("mps3-an547"), "usual"),
    "M55 Helium, clang": (targets.board_build("mps3-an547"), "clang"),
    "AArch64": (targets.machine_build("aarch64"), "usual"),
    "ARMv7 NEON": (targets.machine_build("armv7"), "usual"),
}


def count(build, names):
    """Builds and runs programs, given the names of their output files. Returns the instructions that each counted."""
    return [int(re.search(r"^\d+$", file.read_text(encoding="utf-8"), re.MULTILINE)[0]) for file in build.make(names)]


def instructions(build, way, level, whose, names):
    """Returns {row: instructions, less those of an empty call}."""
    nothing, *counts = count(build, [f"{programs.name_of(whose, way, level, row)}.txt" for row in (NOTHING, *names)])
    return {row: number - nothing for row, number in zip(names, counts)}


def cell(row, title, samples):
    if row.startswith("token"):  # of one token, on average
        figure = samples[0] // rows.extents(row)[0]
    else:
        figure = samples[0] if row.startswith("attention") else float(f"{samples[0] / rows.work(row):.3g}")
    most = rows.CORES[row].get(title.removesuffix(", clang"))
    return f"{figure} {'≤' if figure <= most else '>'} {most}" if most else str(figure)


def bench(options):
    names = rows.chosen(rows.CORES, options)
    titles = options.core or [title for title in CORES if "clang" not in title or shutil.which(CLANG)]
    builds = {build.name: programs.Build(build, options) for build, _ in map(CORES.get, titles)}
    for level in options.level:
        print(f"Instructions at -O{level}: of a multiply-add, of an element, of a whole layer; "
              "≤ or > what it shall take at most")
        samples = {(row, title, whose): [number] for title, whose in itertools.product(titles, options.trees)
                   for row, number in instructions(builds[CORES[title][0].name], CORES[title][1], level, whose,
                                                   names).items()}
        tables.print_ours(samples, cell)
        tables.print_beside(samples)
        print()
    release = call(["arm-none-eabi-g++", "--version"]).splitlines()[0]
    print(f"By {release}, Clang by {CLANG}, counted by QEMU.")
