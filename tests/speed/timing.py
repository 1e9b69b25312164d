# SPDX-License-Identifier: MIT
"""Times of rows on this machine, each as a share of the roof: a loop of multiply-adds in registers, timed beside it."""
import functools
import itertools
import pathlib
import platform
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "ports" / "simd")]
import building  # noqa: E402
import priorities  # noqa: E402
import rows  # noqa: E402
import tables  # noqa: E402

# The instructions that a port may be built for; any other port takes those of this machine.
PORT_FLAGS = priorities.ports(platform.machine(), priorities.VECTORS)
# What they compute of the rows, their file, and their library.
PEERS = {"Eigen": (("matmul", "softmax", "attention"), "eigen.cpp"),
         "OpenBLAS": (("matmul", "attention"), "openblas.cpp", "-lopenblas"),
         "oneDNN": (("matmul", "attention"), "onednn.cpp", "-ldnnl")}
# Peers get the flags that their own users are told to take, and one thread. OpenBLAS does not know every processor with AVX-512 by itself.
PEER_FLAGS = ("-O3", "-march=native", "-DNDEBUG", "-isystem", "/usr/include/eigen3")
# run.c is C, with the flags that its author names. They are the linker's, too: there, -Ofast makes subnormal numbers zero.
LLAMA2C_FLAGS = ("-Ofast", "-march=native")
CPUINFO = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
PROCESSOR = (re.findall(r"model name\s*: (.*)", CPUINFO) or [platform.machine()])[0]
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
               **({"OPENBLAS_CORETYPE": "SkylakeX"} if "avx512f" in CPUINFO.split() else {})}


def program(build, name, names, compiler, source, *flags, libraries=(), tree=ROOT):
    """Rows of a library, as a compiler builds them. Libraries are what the linker gets: objects and flags, too."""
    machine, flags = building.host(compiler), (*building.language(tree), *flags)
    main = build.compile(machine, rows.PROGRAMS / "timed.cpp", *flags, "-ffp-contract=fast")
    objects = [build.compile(machine, rows.PROGRAMS / source, *flags, *rows.flags(row)) for row in names]
    return build.link(machine, name.replace(" ", "-"), [main, *objects], *libraries)


def sample(path, row):
    """ns of a call, and the roof in GFLOP/s."""
    ns, roof = building.call([path, row], **ENVIRONMENT).split()
    return float(ns), float(roof)


def cell(row, _, samples):
    """Of medians. The share is of the same sample's roof, of two operations a multiply-add."""
    ns = statistics.median(ns for ns, _ in samples)
    if row.startswith("softmax"):
        return f"{ns / rows.work(row):.3g} ns/element"
    if row.startswith("token"):  # of one, on average
        ns /= rows.extents(row)[0]
    return f"{statistics.median(200 * rows.work(row) / its_ns / roof for its_ns, roof in samples):.3g} % ({ns:.4g} ns)"


def tasks(build, title, whose, names, *how, **more):
    """For tables.take_turns: samples of the rows of a program."""
    path = program(build, f"{title} {whose}", names, *how, **more)
    return {(row, title, whose): functools.partial(sample, path, row) for row in names}


def peers(build, names, options):
    """For tables.take_turns: each peer's rows."""
    turns = {}
    for title, (computes, source, *libraries) in PEERS.items() if options.peers else ():
        its_rows = [row for row in names if row.startswith(computes)]
        if its_rows:
            turns |= tasks(build, title, "ours", its_rows, options.compiler[0], f"peers/{source}", *PEER_FLAGS, libraries=libraries)
    tokens = [row for row in names if row.startswith("token")]
    if options.llama2c and tokens:
        run_c = build.compile(building.host(), rows.PROGRAMS / "peers" / "llama2c.c", *LLAMA2C_FLAGS, f"-I{options.llama2c}")
        turns |= tasks(build, "llama2.c", "ours", tokens, "g++", "peers/llama2c.cpp", *PEER_FLAGS, libraries=[run_c, *LLAMA2C_FLAGS])
    return turns


def bench(options):
    names, build = rows.chosen(rows.HOST, options), building.Build(rows.FOLDER / "host")
    turns = {}
    for (whose, tree), compiler, port in itertools.product(options.trees.items(), options.compiler, options.port):
        flags = ["-O2", *PORT_FLAGS.get(port, ["-march=native"]), *[f"-DTINYATTN_PORT={port}"] * bool(port), *options.flags.split()]
        turns |= tasks(build, f"tinyattn {compiler} {port}".strip(), whose, names, compiler, "tinyattn.cpp", *flags, tree=tree)
    turns |= peers(build, names, options)
    build.demand()
    samples = tables.take_turns(turns, options.rounds or 30)
    tables.print_ours(samples, cell)
    roofs = {column: f"{statistics.median(roof for _, roof in its):.0f} GFLOP/s ({column})" for (_, column, _), its in samples.items()}
    compilers = tables.compilers([*options.compiler, *(["gcc"] if options.llama2c else [])])
    print(f"\n% of the roof, which is {', '.join(roofs.values())}.\n{PROCESSOR}, {compilers}.")
    tables.print_beside({key: [ns for ns, _ in its] for key, its in samples.items()}, " ns")
