# SPDX-License-Identifier: MIT
"""Instructions of rows on the cores that QEMU plays, counted exactly by the plugin programs/counter.cpp."""
import itertools
import re
import shutil

import building
import tables
from rows import CORES, FOLDER, PROGRAMS, Row, chosen

CLANG = "clang++-19"  # GCC 12 miscompiles some of Helium; Clang of before version 17 does not know enough of it
MACHINES = {
    "M4F": lambda: building.board("mps2-an386"),
    "M7": lambda: building.board("mps2-an500"),
    "M33": lambda: building.board("mps2-an505"),
    "M55": lambda: building.board("mps3-an547").replace("-mcpu=cortex-m55", "-mcpu=cortex-m55+nomve", "-mfpu=fpv5-d16"),
    "M55 Helium": lambda: building.board("mps3-an547"),
    "M55 Helium, clang": lambda: building.clang_for_firmware(CLANG, building.board("mps3-an547")),
    "AArch64": lambda: building.linux("aarch64"),
    "ARMv7 NEON": lambda: building.linux("armv7"),
}
NOTHING = Row("call", "call of nothing", "Nothing")


def count(title, level, rows, flags, tree):
    """{row: instructions}, less what a call of nothing takes."""
    build = building.Build(FOLDER / "boards" / re.sub(r"\W+", "-", title + level))
    counter = build.compile(building.host(), PROGRAMS / "counter.cpp", "-std=c++20", "-O2", "-fPIC")
    plugin = build.link(building.host(), "counter", [counter], "-shared")
    machine, flags = MACHINES[title](), (*building.language(tree), level, *flags)
    objects = [build.compile(machine, PROGRAMS / "tinyattn.cpp", *flags, *row.flags()) for row in (NOTHING, *rows)]
    main = build.compile(machine, PROGRAMS / "counted.cpp", *flags, "-fhosted")  # without, Clang's main is a function like any other
    program = build.link(machine, "counted", [main, *objects, *build.support(machine)])
    qemu, *arguments = machine.wrapper
    command = [qemu, "-d", "plugin", "-plugin", plugin, *arguments, program]  # in user mode QEMU reads symbols only if it logs
    said = build.step("run", program.with_suffix(".txt"), [program, plugin], command)
    build.demand()
    lines = said.read_text(encoding="utf-8").splitlines()
    names, counts = ([line for line in lines if line.isdigit() == is_count] for is_count in (False, True))
    found = dict(zip(names, map(int, counts), strict=True))
    return {row: found[row.name] - found[NOTHING.name] for row in rows}


def cell(row, title, instructions):
    figure, most = instructions if row.operation == "attention" else instructions / row.work, CORES[row].get(title)
    shown = instructions if row.operation == "attention" else f"{figure:#.3g}"
    return f"{shown} {'≤' if figure <= most else '>'} {most}" if most else str(shown)


def bench(options):
    rows, problems = chosen(CORES, options), []
    titles = options.core or [title for title in MACHINES if "clang" not in title or shutil.which(CLANG)]
    counted = {}  # {(core, level): for each tree, {row: instructions}}
    for level, title in itertools.product([f"-O{level}" for level in options.level], titles):
        try:
            counted[title, level] = [count(title, level, rows, options.flags.split(), tree) for tree in options.trees]
        except building.Failed as problem:
            problems.append(f"{title} {level}: {problem}")
    for level in dict.fromkeys(level for _, level in counted):
        of_level = {title: ours for (title, its_level), (ours, *_) in counted.items() if its_level == level}
        print(f"Instructions at {level}: of a multiply-add, of an element, of a whole layer; ≤ or > what it shall take at most")
        tables.print_table(["", *of_level],
                           [[row.name, *(cell(row, title, ours[row]) for title, ours in of_level.items())] for row in rows])
        print()
    if counted:
        print(f"By {tables.compilers(*(MACHINES[title]().cpp[0] for title, _ in counted))}, counted by QEMU.")
    tables.print_beside([{(*key, row.name): [of_trees[i][row]] for key, of_trees in counted.items() for row in rows}
                         for i in range(len(options.trees))])
    if problems:
        raise building.Failed("\n".join(problems))
