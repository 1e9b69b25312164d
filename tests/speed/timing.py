# SPDX-License-Identifier: MIT
"""Times of rows on this machine, each as a share of the roof: a loop of multiply-adds in registers, timed beside it."""
import functools
import itertools
import os
import pathlib
import platform
import re
import statistics
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


def program(build, name, compiler, source, rows, *flags, libraries=(), tree=ROOT):
    """Rows of a library, as a compiler builds them."""
    machine, flags = building.host(compiler), (*building.language(tree), *flags)
    main = build.compile(machine, PROGRAMS / "timed.cpp", *flags, "-ffp-contract=fast")
    objects = [build.compile(machine, PROGRAMS / source, *flags, *row.flags()) for row in rows]
    return build.link(machine, name.replace(" ", "-"), [main, *objects], *libraries)


def sample(path, row):
    """ns of a call, and the roof in GFLOP/s."""
    ns, roof = building.call([path, row.name], **ENVIRONMENT).split()
    return float(ns), float(roof)


def cell(row, _, samples):
    """Of medians. The share is of the same sample's roof, of two operations a multiply-add."""
    ns = statistics.median(ns for ns, _ in samples)
    if row.is_a("softmax"):
        return f"{ns / row.work:.3g} ns/element"
    return f"{statistics.median(200 * row.work / ns / roof for ns, roof in samples):.3g} % ({ns:.4g} ns)"


def ours(build, rows, options):
    """{(column, whose): (program, its rows)}"""
    for (whose, tree), compiler, port in itertools.product(options.trees.items(), options.compiler, options.port):
        title = f"tinyattn {compiler} {port}".strip()
        flags = ["-O2", *PORT_FLAGS.get(port, ["-march=native"]), *[f"-DTINYATTN_PORT={port}"] * bool(port), *options.flags.split()]
        yield (title, whose), (program(build, f"{title} {whose}", compiler, "tinyattn.cpp", rows, *flags, tree=tree), rows)


def peers(build, rows, options):
    """The same of those whose headers the compiler finds."""
    products = [row for row in rows if not row.is_a("softmax")]
    known = [*((f"Eigen {compiler}", compiler, "eigen.cpp", rows, ()) for compiler in options.compiler),
             ("OpenBLAS", "g++", "openblas.cpp", products, ("-lopenblas",)), ("oneDNN", "g++", "onednn.cpp", products, ("-ldnnl",))]
    for title, compiler, name, its_rows, libraries in known:
        source = PROGRAMS / "peers" / name
        if building.attempt([compiler, *building.language(), *PEER_FLAGS, "-E", source, "-o", os.devnull])[0] == 0:
            yield (title, "ours"), (program(build, title, compiler, source, its_rows, *PEER_FLAGS, libraries=libraries), its_rows)


def bench(options):
    rows, build = chosen(HOST, options), building.Build(FOLDER / "host")
    programs = dict([*ours(build, rows, options), *peers(build, rows, options)])
    build.demand()
    samples = tables.take_turns({(row, *column): functools.partial(sample, path, row)
                                 for column, (path, its_rows) in programs.items() for row in its_rows}, options.rounds or 30)
    tables.print_ours(samples, cell)
    roofs = {column: f"{statistics.median(roof for _, roof in its):.0f} GFLOP/s ({column})" for (_, column, _), its in samples.items()}
    print(f"\n% of the roof, which is {', '.join(roofs.values())}.\n{PROCESSOR}, {tables.compilers(options.compiler)}.")
    tables.print_beside({key: [ns for ns, _ in its] for key, its in samples.items()}, " ns")
