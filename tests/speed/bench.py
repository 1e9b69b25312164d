# SPDX-License-Identifier: MIT
"""tests/bench: how fast the library is, on this machine and on those that QEMU plays, and what it takes of a firmware."""
import argparse
import re
import subprocess
import sys

import building
import host
import rows as tables


def arguments():
    parser = argparse.ArgumentParser(prog="tests/bench", description=__doc__)
    parser.add_argument("what", nargs="?", choices=["host", "boards", "size"], default="host")
    parser.add_argument("--only", choices=["matmul", "softmax", "attention"], help="rows of one operation")
    parser.add_argument("--filter", default="", metavar="REGEX", help="rows whose names match, such as 'T[1-3]$' or '64'")
    parser.add_argument("--compiler", nargs="+", default=["g++"], help="host: one column for each, such as g++ clang++")
    parser.add_argument("--port", nargs="+", default=[""], help="host: one column for each, such as avx512 avx2; else what -march=native gives")
    parser.add_argument("--flags", default="", help="host: more compiler flags, as in --flags='-O3 -funroll-loops'")
    parser.add_argument("--rounds", type=int, default=3, help="host: how often the programs take turns (3)")
    parser.add_argument("--repetitions", type=int, default=5, help="host: measurements of a row in a turn (5)")
    return parser.parse_args()


def chosen(rows, options):
    found = [row for row in rows if options.only in (None, row.operation) and re.search(options.filter, row.name)]
    if not found:
        raise building.Failed("no row of that name")
    return found


def bench_host(options):
    rows = chosen(tables.HOST, options)
    columns = [host.ours(compiler, port, options.flags.split()) for compiler in options.compiler for port in options.port]
    host.print_table(rows, host.measure(columns, rows, options.rounds, options.repetitions, 0.02))


def main():
    options = arguments()
    jobs = {"host": ["gcc", "clang", "bench"]}[options.what]
    if subprocess.run([building.ROOT / "ports" / "toolchain", *jobs], check=False).returncode != 0:
        return 1
    try:
        {"host": bench_host}[options.what](options)
    except building.Failed as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
