# SPDX-License-Identifier: MIT
"""Instructions of rows on the cores that QEMU plays, counted exactly by the plugin programs/counter.cpp."""
import itertools
import re
import shutil

import building
import rows
import tables

CLANG = "clang++-19"  # GCC 12 miscompiles some of Helium; Clang of before version 17 does not know enough of it
MACHINES = {
    "M3": lambda: building.board("mps2-an385"),
    "M4F": lambda: building.board("mps2-an386"),
    "M7": lambda: building.board("mps2-an500"),
    "M33": lambda: building.board("mps2-an505"),
    "M55": lambda: building.board("mps3-an547").replace("-mcpu=cortex-m55", "-mcpu=cortex-m55+nomve", "-mfpu=fpv5-d16"),
    "M55 Helium": lambda: building.board("mps3-an547"),
    "M55 Helium, clang": lambda: building.clang_for_firmware(CLANG, building.board("mps3-an547")),
    "AArch64": lambda: building.linux("aarch64"),
    "ARMv7 NEON": lambda: building.linux("armv7"),
}
NOTHING = "nothing 0"


def run(build, machine, name, names, *flags):
    """What the rows print there, and the plugin among them."""
    counter = build.compile(building.host(), rows.PROGRAMS / "counter.cpp", "-std=c++20", "-O2", "-fPIC")
    plugin = build.link(building.host(), "counter", [counter], "-shared")
    objects = [build.compile(machine, rows.PROGRAMS / "tinyattn.cpp", *flags, *rows.flags(row)) for row in (NOTHING, *names)]
    main = build.compile(machine, rows.PROGRAMS / "counted.cpp", *flags, "-fhosted")  # without, Clang's main is a function like any other
    program = build.link(machine, re.sub(r"\W+", "-", name), [main, *objects, *build.support(machine)])
    qemu, *arguments = machine.wrapper
    command = [qemu, "-d", "plugin", "-plugin", plugin, *arguments, program]  # in user mode QEMU reads symbols only if it logs
    return build.step("run", program.with_suffix(".txt"), [program, plugin], command)


def instructions(said, row):
    """Less what a call of nothing takes."""
    lines = said.read_text(encoding="utf-8").splitlines()
    names, counts = ([line for line in lines if line.isdigit() == is_count] for is_count in (False, True))
    found = dict(zip(names, map(int, counts), strict=True))
    return found[row] - found[NOTHING]


def cell(row, title, samples):
    if row.startswith("token"):  # of one, on average
        figure = samples[0] // rows.extents(row)[0]
    else:
        figure = samples[0] if row.startswith("attention") else float(f"{samples[0] / rows.work(row):.3g}")
    most = rows.CORES[row].get(title.removesuffix(", clang"))
    return f"{figure} {'≤' if figure <= most else '>'} {most}" if most else str(figure)


def bench(options):
    names, build = rows.chosen(rows.CORES, options), building.Build(rows.FOLDER / "boards")
    titles = options.core or [title for title in MACHINES if "clang" not in title or shutil.which(CLANG)]
    machines = {title: MACHINES[title]() for title in titles}
    runs = {(level, title, whose): run(build, machines[title], f"{title} {level} {whose}", names,
                                       *building.language(tree), f"-O{level}", *options.flags.split())
            for level, title, (whose, tree) in itertools.product(options.level, machines, options.trees.items())}
    build.demand()
    for level in options.level:
        print(f"Instructions at -O{level}: of a multiply-add, of an element, of a whole layer; ≤ or > what it shall take at most")
        samples = {(row, title, whose): [instructions(said, row)]
                   for (its_level, title, whose), said in runs.items() if its_level == level for row in names}
        tables.print_ours(samples, cell)
        tables.print_beside(samples)
        print()
    print(f"By {tables.compilers(machine.cpp[0] for machine in machines.values())}, counted by QEMU.")
