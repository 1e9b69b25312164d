# SPDX-License-Identifier: MIT
"""tests/bench: how fast the library is, on this machine and on the cores that QEMU plays, and what it takes of a firmware."""
import argparse
import itertools
import re
import subprocess
import sys

import building
import cores
import counting
import figures
import markdown
import rows as tables
import sizes
import timing


def arguments():
    parser = argparse.ArgumentParser(prog="tests/bench", description=__doc__)
    parser.add_argument("what", nargs="?", choices=JOBS, default="host")
    parser.add_argument("--only", choices=["matmul", "softmax", "attention"], help="rows of one operation")
    parser.add_argument("--filter", default="", metavar="REGEX", help="rows whose names match, such as 'T[1-3]$' or '64'")
    parser.add_argument("--write", action="store_true", help="note what is measured, for later runs to compare with")
    parser.add_argument("--flags", default="", help="more compiler flags, as in --flags='-O3 -funroll-loops'")
    on_host = parser.add_argument_group("host")
    on_host.add_argument("--compiler", nargs="+", default=["g++"], help="a column for each, such as g++ clang++")
    on_host.add_argument("--port", nargs="+", default=[""], help="a column for each, such as avx512 avx2; else what -march=native gives")
    on_host.add_argument("--peers", action="store_true", help="Eigen, OpenBLAS and oneDNN beside us; installs them")
    on_host.add_argument("--rounds", type=int, default=3, help="how often the programs take turns (3)")
    on_host.add_argument("--repetitions", type=int, default=5, help="measurements of a row in a turn (5)")
    on_boards = parser.add_argument_group("boards")
    on_boards.add_argument("--core", nargs="+", choices=cores.CORES, metavar="CORE", help=f"some of {', '.join(cores.CORES)}")
    on_boards.add_argument("--level", nargs="+", choices=["2", "s", "3"], help="some of -O2 and -Os, or -O3")
    return parser.parse_args()


def chosen(rows, options):
    found = [row for row in rows if options.only in (None, row.operation) and re.search(options.filter, row.name)]
    if not found:
        raise building.Failed("no row of that name")
    return found


def bench_host(options):
    rows = chosen(tables.HOST, options)
    columns = [timing.ours(compiler, port, options.flags.split()) for compiler in options.compiler for port in options.port]
    columns += [peer for peer in timing.peers(options.compiler) if timing.is_installed(peer)]
    measured = timing.measure(columns, rows, options.rounds, options.repetitions, 0.02)
    compilers = {column: building.version(column.compiler) for column in columns}
    markdown.print_table(timing.table(rows, measured))
    print(f"\n% of the roof, in brackets GFLOP/s; ✗ not reached. {figures.processor()}, {', '.join(dict.fromkeys(compilers.values()))}.")
    print(f"The roof in GFLOP/s: {timing.roofs(measured)}")
    report([figures.timed(column.title, compilers[column], times) for column, times in measured.items()], options)


def bench_boards(options):
    rows = chosen(tables.CORES, options)
    counted, problems = {}, []
    for level, title in itertools.product(levels(options), options.core or cores.titles()):
        try:
            counted[level, title] = counting.count(title, level, rows, options.flags.split())
        except building.Failed as problem:
            problems.append(f"{title} {level}: {problem}")
    for level in dict.fromkeys(level for level, _ in counted):
        print(f"Instructions at {level}")
        of_level = {title: counts for (its_level, title), (counts, _) in counted.items() if its_level == level}
        markdown.print_table(counting.table(rows, of_level))
        print()
    compilers = dict.fromkeys(compiler for _, compiler in counted.values())
    print(f"By {', '.join(compilers)}, counted by QEMU; ≤ reached, > not reached. Cycles: an estimate from Arm's published timings.")
    report([figures.counted(title, level, compiler, counts) for (level, title), (counts, compiler) in counted.items()], options)
    if problems:
        raise building.Failed("\n".join(problems))


def levels(options):
    return [f"-O{level}" for level in options.level] if options.level else ["-O2", "-Os"]


def report(parts, options):
    if options.flags:
        return  # other code than the figures are of
    figures.report({heading: found for part in parts for heading, found in part.items()}, options.write)


def bench_size(options):
    measured = sizes.measure(options.filter)
    markdown.print_table(sizes.table(measured))
    print()
    sizes.report(measured, options.write)


JOBS = {"host": bench_host, "boards": bench_boards, "size": bench_size}
TOOLS = {"host": ["gcc", "bench"], "boards": ["gcc", "clang-19", "firmware", "linux-arm"], "size": ["gcc", "firmware"]}


def main():
    options = arguments()
    tools = TOOLS[options.what] + ["clang"] * ("clang++" in options.compiler) + ["peers"] * options.peers
    if subprocess.run([building.ROOT / "ports" / "toolchain", *tools], check=False).returncode != 0:
        return 1
    try:
        JOBS[options.what](options)
    except building.Failed as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
