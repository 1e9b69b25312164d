# SPDX-License-Identifier: MIT
"""Counts exactly the instructions of rows on emulated cores, by QEMU's plugin programs/counter.cpp."""
import itertools
import re
import shutil

from tests.speed import programs, rows, tables
from tests.support import targets
from tests.support.processes import call

PEERS = ("llama2.c", "CMSIS-NN")  # compared on boards; an option names the clone of each
CLANG = "clang++-19"  # GCC 12 miscompiles some of Helium; Clang before version 17 does not know enough of it
# {core: (its build, the way in which rows are built there)}
CORES = {
    "M0": ("mps2-an385", "m0"),  # the code of a Cortex-M0, on a board that has memory enough for every row
    "M3": ("mps2-an385", "usual"),
    "M4F": ("mps2-an386", "usual"),
    "M7": ("mps2-an500", "usual"),
    "M33": ("mps2-an505", "usual"),
    "M55": ("mps3-an547", "nomve"),
    "M55 Helium": ("mps3-an547", "usual"),
    "M55 Helium, clang": ("mps3-an547", "clang"),
    "AArch64": ("aarch64", "usual"),
    "ARMv7 NEON": ("armv7", "usual"),
}


def instructions(build, names, *words, of=()):
    """Builds and runs our programs, or those that the words `of` name, for the rows that have one. Returns {row:
    instructions, without an empty call's}."""
    found = {row: f"{programs.file_of(*(of or words), row)}.txt" for row in names}
    found = {row: file for row, file in found.items() if file.rpartition("/")[2] in build.targets}
    files = build.make([f"{programs.file_of(*words, rows.NOTHING)}.txt", *found.values()])
    nothing, *counts = (int(re.search(r"^\d+$", file.read_text(encoding="utf-8"), re.MULTILINE)[0]) for file in files)
    return {row: number - nothing for row, number in zip(found, counts)}


def as_ratio(row, counts):
    """Returns the instructions of a row, or its ratio to another."""
    return counts[row] / rows.extents(row)[0] / counts[rows.flat(row)] if rows.flat(row) else counts[row]


def cell(row, title, samples):
    if rows.flat(row):
        figure = round(samples[0], 4)
    elif row.startswith("token"):  # of one token, on average
        figure = samples[0] // rows.extents(row)[0]
    else:
        figure = samples[0] if row.startswith(("attention", "draw", "full", "hand", "infer", "learn")) else float(f"{samples[0] / rows.work(row):.3g}")
    most = rows.CORES[row].get(title.removesuffix(", clang"))
    return f"{figure} {'≤' if figure <= most else '>'} {most}" if most else str(figure)


def bench(options):
    names = rows.chosen(rows.CORES, options)
    titles = options.core or [title for title in CORES if "clang" not in title or shutil.which(CLANG)]
    builds = {name: programs.Build(targets.BUILDS[name], options, llama2c=options.llama2c, cmsis_nn=options.cmsis_nn)
              for name in dict.fromkeys(CORES[title][0] for title in titles)}
    for level in options.level:
        print(f"Instructions at -O{level}: of a multiply-add, of an element, of a whole layer or token; "
              "≤ or > what it shall take at most")
        samples = {}
        for title, whose in itertools.product(titles, options.trees):
            name, way = CORES[title]
            counts = instructions(builds[name], names, whose, way, f"O{level}")
            samples |= {(row, title, whose): [as_ratio(row, counts)] for row in counts}
        for peer, title in itertools.product(PEERS, titles):
            name, way = CORES[title]
            counts = instructions(builds[name], names, "ours", way, f"O{level}", of=(peer, way))
            samples |= {(row, f"{title}, {peer}", "ours"): [number] for row, number in counts.items()}
        tables.print_ours(samples, cell)
        tables.print_beside(samples)
        print()
    release = call(["arm-none-eabi-g++", "--version"]).splitlines()[0]
    print(f"By {release}, Clang by {CLANG}, counted by QEMU.")
