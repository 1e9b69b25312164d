# SPDX-License-Identifier: MIT
"""Times rows on this machine, each as a share of the roof: a loop of multiply-adds in registers, timed beside it."""
import dataclasses
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys

import beside
import building

sys.path.insert(0, str(building.ROOT / "ports" / "simd"))
import ladder  # noqa: E402

# The instructions that a port may be built for; any other port takes those of this machine.
PORT_FLAGS = ladder.ports(platform.machine(), ladder.VECTORS)

# Samples that a process takes.
TURNS = 2


@dataclasses.dataclass(frozen=True)
class Column:
    """A library as one compiler builds it."""

    title: str
    source: str
    compiler: str
    flags: tuple
    libraries: tuple = ()  # that the program is linked with
    environment: tuple = ()
    operations: tuple = ("matmul", "softmax", "attention")
    is_ours: bool = False  # and so held to what is to be reached
    tree: pathlib.Path = building.ROOT  # whose library is compiled


@dataclasses.dataclass(frozen=True)
class Time:
    """Medians over all samples. The share is of the same sample's roof."""

    ns: float
    share: float  # of the roof, of two operations a unit of work
    roof: float  # GFLOP/s
    spread: float  # half of the samples lie within this relative distance of the median
    samples: tuple  # ns, in the order in which they were taken


def ours(compiler, port="", flags=(), optimization="-O2"):
    chosen = (*PORT_FLAGS.get(port, ["-march=native"]), *([f"-DTINYATTN_PORT={port}"] if port else []))
    title = " ".join(word for word in ("tinyattn", compiler, port) if word)
    return Column(title, "tinyattn.cpp", compiler, (optimization, *chosen, *flags), is_ours=True)


def peers(compilers):
    """Each with the flags that its own users are told to take. OpenBLAS does not know every processor with AVX-512 by itself."""
    fast = ("-O3", "-march=native", "-DNDEBUG", "-isystem", "/usr/include/eigen3")
    widest = "SkylakeX" if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split() else ""
    openblas = (("OPENBLAS_NUM_THREADS", "1"), *((("OPENBLAS_CORETYPE", widest),) if widest else ()))
    return [
        *(Column(f"Eigen {compiler}", "peers/eigen.cpp", compiler, fast) for compiler in compilers),
        Column("OpenBLAS", "peers/openblas.cpp", "g++", fast, ("-lopenblas",), openblas, ("matmul", "attention")),
        Column("oneDNN", "peers/onednn.cpp", "g++", fast, ("-ldnnl",), (("OMP_NUM_THREADS", "1"),), ("matmul", "attention")),
    ]


def is_installed(peer):
    """Whether the compiler finds its headers."""
    try:
        building.call([peer.compiler, *building.language(peer.tree), *peer.flags, "-E", building.PROGRAMS / peer.source, "-o", "/dev/null"])
    except building.Failed:
        return False
    return True


class Program:
    def __init__(self, column, all_rows):
        rows = [row for row in all_rows if row.operation in column.operations]
        self.column = column
        self.rows = {row.name: row for row in rows}
        self.folder = building.empty_folder("host", column.title.replace(" ", "-"))
        self.path = self.folder / "timed"
        self.samples = {name: [] for name in self.rows}
        command = [column.compiler, *building.language(column.tree), *column.flags]
        objects = building.compile_rows(command, column.source, rows, self.folder)
        fixed = [self.folder / "timed.o", self.folder / "roof.o"]
        building.call([*command, "-c", building.PROGRAMS / "timed.cpp", "-o", fixed[0]])
        building.call([*command, "-ffp-contract=fast", "-c", building.PROGRAMS / "roof.cpp", "-o", fixed[1]])
        building.call([column.compiler, *objects, *fixed, *column.libraries, "-o", self.path])

    def start(self, name):
        """A process that has prepared the row."""
        environment = {**os.environ, **dict(self.column.environment)}
        process = subprocess.Popen([self.path, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   encoding="utf-8", env=environment)
        self.answer(process)
        return process

    def answer(self, process):
        line = process.stdout.readline()
        if not line:
            raise building.Failed(f"{self.path}\nended with status {process.wait()}")
        return line

    def sample(self, name, process):
        print(file=process.stdin, flush=True)
        ns, roof = self.answer(process).split()
        self.samples[name].append((float(ns), float(roof)))

    def times(self):
        return {name: time(row, self.samples[name]) for name, row in self.rows.items()}


def time(row, samples):
    """samples: pairs of ns per call and the roof in GFLOP/s."""
    times = [ns for ns, _ in samples]
    shares = sorted(2 * row.work / ns / roof for ns, roof in samples)
    median = statistics.median(shares)
    spread = statistics.median(abs(share - median) for share in shares) / median
    roof = statistics.median(roof for _, roof in samples)
    return Time(statistics.median(times), median, roof, spread, tuple(times))


def shuffled(items):
    return random.sample(items, len(items))


def take_turns(name, programs):
    """At one row, so that a disturbance meets all; in processes of their own."""
    processes = {program: program.start(name) for program in shuffled(programs)}
    for _ in range(TURNS):
        for program in shuffled(programs):
            program.sample(name, processes[program])
    for process in processes.values():
        process.communicate()


def measure(columns, rows, rounds):
    """{column: {row name: Time}}"""
    programs = [Program(column, rows) for column in columns]
    for _ in range(rounds):
        for row in shuffled(rows):
            take_turns(row.name, [program for program in programs if row.name in program.rows])
    return {program.column: program.times() for program in programs}


# --- The table ---


def figure(row, time, unit):
    if unit == "%":
        return 100 * time.share
    if unit == "GFLOP/s":
        return 2 * row.work / time.ns
    return time.ns / row.work if unit == "ns/element" else time.ns


def digits(number):
    return f"{number:.0f}" if number >= 99.95 else f"{number:.3g}"


def reached(row, time):
    now, goal = figure(row, time, row.host.unit), row.host.figure
    return now <= goal if row.host.unit.startswith("ns") else now >= goal


def cell(row, column, time):
    if time is None:
        return ""
    unit = row.host.unit
    mark = f", goal {digits(row.host.figure)}" if column.is_ours and not reached(row, time) else ""
    speed = f" ({2 * row.work / time.ns:.0f})" if unit == "%" else ""
    return f"{digits(figure(row, time, unit))} {unit}{speed}{mark}"


def pair(row, column, ours, others):
    """The ratio is that of times: both samples of a pair met the same roof."""
    shown = [cell(row, column, time) for time in (ours, others)]
    return beside.Pair((column.title, row.name), *shown, beside.ratio(ours.samples, others.samples))


def table(rows, measured):
    """Rows by columns. measured: {column: {row name: Time}}"""
    lines = [["", *(column.title for column in measured), "to reach"]]
    for row in rows:
        cells = [cell(row, column, times.get(row.name)) for column, times in measured.items()]
        lines.append([row.name, *cells, f"{digits(row.host.figure)} {row.host.unit}"])
    return lines


def roofs(measured):
    medians = {column.title: statistics.median(time.roof for time in times.values()) for column, times in measured.items()}
    return ", ".join(f"{roof:.0f} ({title})" for title, roof in medians.items())
