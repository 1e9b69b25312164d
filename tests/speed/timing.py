# SPDX-License-Identifier: MIT
"""Times of rows on this machine, each as a share of the roof: a loop of multiply-adds in registers, timed beside it."""
import itertools
import os
import pathlib
import platform
import random
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "ports" / "simd")]
import building  # noqa: E402
import ladder  # noqa: E402
import tables  # noqa: E402
from rows import FOLDER, HOST, PROGRAMS, chosen  # noqa: E402

# The instructions that a port may be built for; any other port takes those of this machine.
PORT_FLAGS = ladder.ports(platform.machine(), ladder.VECTORS)
# Peers get the flags that their own users are told to take, and one thread. OpenBLAS does not know every processor with AVX-512 by itself.
PEER_FLAGS = ("-O3", "-march=native", "-DNDEBUG", "-isystem", "/usr/include/eigen3")
CPUINFO = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
PROCESSOR = (re.findall(r"model name\s*: (.*)", CPUINFO) or [platform.machine()])[0]
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
               **({"OPENBLAS_CORETYPE": "SkylakeX"} if "avx512f" in CPUINFO.split() else {})}
TURNS = 2  # samples that a process takes


class Program:
    """A library as one compiler builds it. It has samples of each row: ns of a call, and the roof in GFLOP/s."""

    def __init__(self, build, title, compiler, source, rows, *flags, libraries=(), tree=ROOT):
        self.title, self.compiler = title, compiler
        self.samples = {row: [] for row in rows}
        machine, flags = building.host(compiler), (*building.language(tree), *flags)
        main = build.compile(machine, PROGRAMS / "timed.cpp", *flags, "-ffp-contract=fast")
        objects = [build.compile(machine, PROGRAMS / source, *flags, *row.flags()) for row in rows]
        name = f"{title} {'beside' * (tree != ROOT)}".strip().replace(" ", "-")
        self.path = build.link(machine, name, [main, *objects], *libraries)

    def start(self, row):
        """A process that has prepared the row."""
        process = subprocess.Popen([self.path, row.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
                                   env={**os.environ, **ENVIRONMENT})
        self.answer(process)
        return process

    def answer(self, process):
        line = process.stdout.readline()
        if not line:
            raise building.Failed(f"{self.path}\nended with status {process.wait()}")
        return line

    def sample(self, row, process):
        print(file=process.stdin, flush=True)
        self.samples[row].append(tuple(map(float, self.answer(process).split())))

    def cell(self, row):
        """Of medians. The share is of the same sample's roof, of two operations a multiply-add."""
        if row not in self.samples:
            return ""
        ns = statistics.median(ns for ns, _ in self.samples[row])
        if row.operation == "softmax":
            return f"{ns / row.work:.3g} ns/element"
        return f"{statistics.median(200 * row.work / ns / roof for ns, roof in self.samples[row]):.3g} % ({ns:.4g} ns)"


def peers(build, rows, compilers):
    """Programs of those whose headers the compiler finds."""
    products = [row for row in rows if row.operation != "softmax"]
    known = [*((f"Eigen {compiler}", compiler, "eigen.cpp", rows, ()) for compiler in compilers),
             ("OpenBLAS", "g++", "openblas.cpp", products, ("-lopenblas",)), ("oneDNN", "g++", "onednn.cpp", products, ("-ldnnl",))]
    for title, compiler, name, its_rows, libraries in known:
        source = PROGRAMS / "peers" / name
        if building.attempt([compiler, *building.language(), *PEER_FLAGS, "-E", source, "-o", os.devnull])[0] == 0:
            yield Program(build, title, compiler, source, its_rows, *PEER_FLAGS, libraries=libraries)


def measure(programs, rows, rounds):
    """At each row all take turns, so that a disturbance meets all; in processes of their own."""
    for row in (row for _ in range(rounds) for row in random.sample(rows, len(rows))):
        processes = [(program, program.start(row)) for program in programs if row in program.samples]
        for _ in range(TURNS):
            for program, process in random.sample(processes, len(processes)):
                program.sample(row, process)
        for _, process in processes:
            process.communicate()


def bench(options):
    rows, build = chosen(HOST, options), building.Build(FOLDER / "host")
    of_trees = [[Program(build, f"tinyattn {compiler} {port}".strip(), compiler, "tinyattn.cpp", rows, "-O2",
                         *PORT_FLAGS.get(port, ["-march=native"]), *([f"-DTINYATTN_PORT={port}"] if port else []),
                         *options.flags.split(), tree=tree)
                 for compiler in options.compiler for port in options.port] for tree in options.trees]
    shown = [*of_trees[0], *peers(build, rows, options.compiler)]
    build.demand()
    measure([*shown, *itertools.chain(*of_trees[1:])], rows, options.rounds or 30)
    tables.print_table(["", *(program.title for program in shown)], [[row.name, *(program.cell(row) for program in shown)] for row in rows])
    roofs = [statistics.median(roof for _, roof in itertools.chain(*program.samples.values())) for program in shown]
    print(f"\n% of the roof, which is {', '.join(f'{roof:.0f} GFLOP/s ({program.title})' for roof, program in zip(roofs, shown))}.\n"
          f"{PROCESSOR}, {tables.compilers(*(program.compiler for program in shown))}.")
    tables.print_beside([{(program.title, row.name): [ns for ns, _ in samples]
                          for program in programs for row, samples in program.samples.items()} for programs in of_trees], " ns")
