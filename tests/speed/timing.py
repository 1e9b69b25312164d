# SPDX-License-Identifier: MIT
"""Times rows on this machine, each as a share of the roof: the speed of a loop of multiply-adds in registers, which is
timed before and after each row."""
import functools
import itertools
import pathlib
import platform
import re
import statistics

from tests.speed import programs, rows, tables
from tests.support import targets
from tests.support.processes import call

# Libraries next to us, with one thread. OpenBLAS does not recognize every processor with AVX-512, so its core is named.
PEERS = ("Eigen", "OpenBLAS", "oneDNN")
CPUINFO = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
PROCESSOR = (re.findall(r"model name\s*: (.*)", CPUINFO) or [platform.machine()])[0]
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
               **({"OPENBLAS_CORETYPE": "SkylakeX"} if "avx512f" in CPUINFO.split() else {})}


def sample(program):
    """Returns the time of a call in ns, and the roof in GFLOP/s."""
    ns, roof = call([program], **ENVIRONMENT).split()
    return float(ns), float(roof)


def cell(row, _, samples):
    """Returns the text of a cell, of medians. The share is of the roof of the same sample; a multiply-add is two
    operations."""
    ns = statistics.median(ns for ns, _ in samples)
    if row.startswith(("softmax", *rows.OPTIMIZERS)):
        return f"{ns / rows.work(row):.3g} ns/element"
    if row.startswith("token"):  # of one token, on average
        ns /= rows.extents(row)[0]
    return f"{statistics.median(200 * rows.work(row) / its_ns / roof for its_ns, roof in samples):.3g} % ({ns:.4g} ns)"


def tasks(build, title, whose, files):
    """Returns tasks for tables.take_turns that take samples of rows. `files`: {row: program}."""
    return {(row, title, whose): functools.partial(sample, program)
            for row, program in zip(files, build.make(files.values()))}


def peers(names, options):
    """Returns tasks for tables.take_turns that take samples of the rows that each peer computes."""
    build, turns = programs.Build(targets.Build("g++"), options, llama2c=options.llama2c), {}
    for title in [*PEERS] * options.peers + ["llama2.c"] * bool(options.llama2c):
        files = {row: programs.file_of(title, row) for row in names}
        turns |= tasks(build, title, "ours", {row: file for row, file in files.items()
                                              if file.rpartition("/")[2] in build.targets})
    return turns


def bench(options):
    names, turns = rows.chosen(rows.HOST, options), {}
    builds = {compiler: programs.Build(targets.Build(compiler, compiler=compiler), options)
              for compiler in options.compiler}
    for whose, (compiler, build), port in itertools.product(options.trees, builds.items(), options.port):
        files = {row: programs.file_of(whose, port or "native", "O2", row) for row in names}
        turns |= tasks(build, f"tinyattn {compiler} {port}".strip(), whose, files)
    turns |= peers(names, options)
    samples = tables.take_turns(turns, options.rounds or 30)
    tables.print_ours(samples, cell)
    roofs = {column: f"{statistics.median(roof for _, roof in its):.0f} GFLOP/s ({column})"
             for (_, column, _), its in samples.items()}
    compilers = tables.compilers([*options.compiler, *(["gcc"] if options.llama2c else [])])
    print(f"\n% of the roof, which is {', '.join(roofs.values())}.\n{PROCESSOR}, {compilers}.")
    tables.print_beside({key: [ns for ns, _ in its] for key, its in samples.items()}, " ns")
