# SPDX-License-Identifier: MIT
"""Counts rows on emulated cores: instructions, exactly, and cycles by the models of cycles/, with QEMU's plugin
cycles/counter.cpp."""
import itertools
import re
import shutil

from tests.speed import programs, rows, tables
from tests.support import targets
from tests.support.processes import Failed, call

PEERS = ("llama2.c", "CMSIS-NN", "ONNX2C", "emlearn")  # compared on boards; an option names the folder of each
CLANG = "clang++-19"  # GCC 12 miscompiles some of Helium; Clang before version 17 does not know enough of it
# {core: (its build, the way in which rows are built there, its model in cycles/)}
CORES = {
    # The code of a Cortex-M0, on a board that has memory enough for every row
    "M0": ("mps2-an385", "m0", "cortex-m0"),
    "M0+": ("mps2-an385", "m0", "cortex-m0plus"),
    "M3": ("mps2-an385", "usual", "cortex-m3"),
    "M4F": ("mps2-an386", "usual", "cortex-m4"),
    "M7": ("mps2-an500", "usual", "cortex-m7"),
    "M33": ("mps2-an505", "usual", "cortex-m33"),
    "M55": ("mps3-an547", "nomve", "cortex-m55"),
    "M55 Helium": ("mps3-an547", "usual", "cortex-m55"),
    "M55 Helium, clang": ("mps3-an547", "clang", "cortex-m55"),
    "AArch64": ("aarch64", "usual", ""),
    "ARMv7 NEON": ("armv7", "usual", ""),
}
# {what is counted: how its table begins}
COUNTED = {
    "instructions": "Instructions",
    "cycles": "Cycles, estimated by models of cores whose memory never waits (tests/speed/cycles/README.md), "
              "a range where they know no more",
}


def counted(file):
    """Returns what counter.cpp printed last: {"instructions": [number]}, and {model: [number]} or {model: [least,
    most]}."""
    text = file.read_text(encoding="utf-8")
    if unknown := re.search("^unknown instruction .*", text, re.MULTILINE):
        raise Failed(f"{file}: {unknown[0]}: tests/speed/cycles/decode.hpp does not have it")
    *_, (instructions, models) = re.findall(r"^(\d+)((?: [a-z0-9-]+=[0-9.]+)*)$", text, re.MULTILINE)
    cycles = dict(model.split("=") for model in models.split())
    return {"instructions": [int(instructions)],
            **{model: list(map(int, bounds.split(".."))) for model, bounds in cycles.items()}}


def counts(build, names, *words, of=()):
    """Builds and runs our programs, or those that the words `of` name, for the rows that have one. Returns {row:
    counts}, as of `counted`, without an empty call's."""
    found = {row: f"{programs.file_of(*(of or words), row)}.txt" for row in names}
    found = {row: file for row, file in found.items() if file.rpartition("/")[2] in build.targets}
    files = build.make([f"{programs.file_of(*words, rows.NOTHING)}.txt", *found.values()])
    nothing, *all_counts = map(counted, files)
    return {row: {what: [number - less for number, less in zip(numbers, nothing[what], strict=True)]
                  for what, numbers in its.items()} for row, its in zip(found, all_counts, strict=True)}


def as_ratio(row, its_counts, what):
    """Returns a count of a row, or its ratio to another's."""
    numbers = its_counts[row][what]
    if not rows.flat(row):
        return numbers
    return [number / rows.extents(row)[0] / flat
            for number, flat in zip(numbers, its_counts[rows.flat(row)][what], strict=True)]


def figure(row, number):
    if rows.flat(row):
        return round(number, 4)
    if row.startswith("token"):  # of one token, on average
        return number // rows.extents(row)[0]
    whole = row.startswith(("attention", "draw", "full", "hand", "infer", "learn"))
    return number if whole else float(f"{number / rows.work(row):.3g}")


def limit(row, title, what, level):
    """Returns the most that a row may take, or None. Limits hold cycles at -O2; on cores without a model,
    instructions."""
    is_held = level == "2" and title in CORES and what == ("cycles" if CORES[title][2] else "instructions")
    return rows.CORES[row].get(title) if is_held else None


def cell(row, samples, most):
    """Returns a figure or a range; and a limit beside it, of the figure or of the least one."""
    figures = [figure(row, number) for number in samples]
    beside = f" {'≤' if figures[0] <= most else '>'} {most}" if most else ""
    return " to ".join(map(str, dict.fromkeys(figures))) + beside


def above(what, level, samples):
    """Returns the figures that are above their limits, in words."""
    held = [(row, title, figure(row, its[0]), limit(row, title, what, level))
            for (row, title, whose), its in samples.items() if whose == "ours"]
    return [f"{row} on {title} takes {least} of {most}" for row, title, least, most in held if most and least > most]


def print_counts(what, level, samples):
    if not samples:
        return
    print(f"{COUNTED[what]}, at -O{level}: of a multiply-add, of an element, of a whole layer or token")
    tables.print_ours(samples, lambda row, title, its: cell(row, its, limit(row, title, what, level)))
    tables.print_beside({key: its[:1] for key, its in samples.items()}, f" {what}")
    print()


def bench(options):
    names = rows.chosen(rows.CORES, options)
    titles = options.core or [title for title in CORES if "clang" not in title or shutil.which(CLANG)]
    builds = {name: programs.Build(targets.BUILDS[name], options, llama2c=options.llama2c, cmsis_nn=options.cmsis_nn,
                                   onnx2c=options.onnx2c, emlearn=options.emlearn)
              for name in dict.fromkeys(CORES[title][0] for title in titles)}
    slow = []
    for level in options.level:
        samples = {what: {} for what in COUNTED}
        programs_of = [(title, title, whose, ()) for title, whose in itertools.product(titles, options.trees)]
        programs_of += [(title, f"{title}, {peer}", "ours", (peer, CORES[title][1]))
                        for peer, title in itertools.product(PEERS, titles)]
        for title, column, whose, of in programs_of:
            name, way, model = CORES[title]
            its_counts = counts(builds[name], names, whose, way, f"O{level}", of=of)
            for row, what in itertools.product(its_counts, ["instructions", *([model] if model else [])]):
                samples["cycles" if what == model else what][row, column, whose] = as_ratio(row, its_counts, what)
        for what, its in samples.items():
            print_counts(what, level, its)
            slow += above(what, level, its)
    release = call(["arm-none-eabi-g++", "--version"]).splitlines()[0]
    print(f"By {release}, Clang by {CLANG}, in QEMU. ≤ or > is what a row shall take at most. Limits and ratios of a "
          "range are of its lower bound.")
    if slow:
        raise Failed(f"More than the limits in rows.toml: {'; '.join(slow)}")
