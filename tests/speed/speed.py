# SPDX-License-Identifier: MIT
"""tests/bench: how fast the library is, on this machine and on the cores that QEMU plays, and what it takes of a firmware."""
import argparse
import dataclasses
import itertools
import re
import sys

import beside
import building
import compiling
import cores
import counting
import figures
import markdown
import rows as tables
import sizing
import timing
import ways

sys.path.insert(0, str(building.ROOT / "tests" / "support"))
import tools  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(prog="tests/bench", description=__doc__)
    parser.add_argument("what", nargs="?", choices=JOBS, default="host")
    parser.add_argument("--only", choices=["matmul", "softmax", "attention"], help="rows of one operation")
    parser.add_argument("--filter", default="", metavar="REGEX", help="rows whose names match, such as 'T[1-3]$' or '64'")
    parser.add_argument("--write", action="store_true", help="note what is measured, for later runs to compare with")
    parser.add_argument("--flags", default="", help="more compiler flags, as in --flags='-O3 -funroll-loops'")
    parser.add_argument("--beside", metavar="FOLDER", help="another checkout: ratios to its figures")
    parser.add_argument("--rounds", type=int, help="of the host's rows (30) or of compilers (15)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be installed")
    on_host = parser.add_argument_group("host")
    on_host.add_argument("--compiler", nargs="+", default=["g++"], help="a column for each, such as g++ clang++")
    on_host.add_argument("--port", nargs="+", default=[""], help="a column for each, such as avx512 avx2; else what -march=native gives")
    on_host.add_argument("--peers", action="store_true", help="Eigen, OpenBLAS and oneDNN beside us; installs them")
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
    others = [dataclasses.replace(column, title=f"{column.title} beside", tree=tree)
              for tree in options.trees[1:] for column in columns]
    columns += [peer for peer in timing.peers(options.compiler) if timing.is_installed(peer)]
    measured = timing.measure([*columns, *others], rows, options.rounds or 30)
    of_others = [measured.pop(other) for other in others]
    compilers = {column: building.version(column.compiler) for column in columns}
    markdown.print_table(timing.table(rows, measured))
    print(f"\n% of the roof, in brackets GFLOP/s; our goal where it is not reached. {figures.processor()}, {', '.join(dict.fromkeys(compilers.values()))}.")
    print(f"The roof in GFLOP/s: {timing.roofs(measured)}")
    if others:
        beside.print_table([timing.pair(row, column, measured[column][row.name], times[row.name])
                            for column, times in zip(columns, of_others) for row in rows])
    report([figures.timed(column.title, compilers[column], times) for column, times in measured.items()], options)


def bench_boards(options):
    rows = chosen(tables.CORES, options)
    counted, problems = {}, []
    instructions = [{} for _ in options.trees]
    for level, title in itertools.product(levels(options), options.core or cores.titles()):
        try:
            flags = options.flags.split()
            of_trees = [counting.count(title, level, rows, flags, tree) for tree in options.trees]
        except building.Failed as problem:
            problems.append(f"{title} {level}: {problem}")
            continue
        counted[level, title] = of_trees[0]
        for found, (counts, _) in zip(instructions, of_trees):
            found |= {(title, level, name): count.instructions for name, count in counts.items()}
    for level in dict.fromkeys(level for level, _ in counted):
        print(f"Instructions at {level}")
        of_level = {title: counts for (its_level, title), (counts, _) in counted.items() if its_level == level}
        markdown.print_table(counting.table(rows, of_level))
        print()
    compilers = dict.fromkeys(compiler for _, compiler in counted.values())
    print(f"By {', '.join(compilers)}, counted by QEMU; ≤ reached, > not reached. Cycles: an estimate from Arm's published timings.")
    beside.print_exact(instructions)
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
    measured = [sizing.measure(options.filter, tree) for tree in options.trees]
    images = [sizing.measure_images(tree) for tree in options.trees]
    markdown.print_table(sizing.table(measured[0]))
    print("\nFlash of a whole firmware for the M4F, by its layers: 16 to 128 wide, of 4 heads")
    markdown.print_table(sizing.image_table(images[0]))
    beside.print_exact(list(map(sizing.numbers, measured, images)))
    print()
    sizing.report(measured[0], options.write)


def bench_compile(options):
    flags = options.flags.split()
    samples = compiling.measure(options.filter, options.trees, options.rounds or 15, flags)
    if len(options.trees) == 1:
        lines = [[*names, compiling.shown(ours)] for names, (ours,) in samples.items()]
        markdown.print_table([["", "", "processor time"], *lines])
    else:
        beside.print_table([beside.Pair(names, *map(compiling.shown, of_trees), beside.ratio(*of_trees))
                            for names, of_trees in samples.items()])


def bench_ways(_):
    markdown.print_table(ways.measure())
    print(f"\nA layer of 64 features, 32 tokens and 4 heads. {figures.processor()}, "
          f"{building.version('g++')}.")


JOBS = {"host": bench_host, "boards": bench_boards, "size": bench_size, "compile": bench_compile,
        "ways": bench_ways}
TOOLS = {
    "host": ["gcc"],
    "boards": ["gcc", "clang-19", "firmware", "linux-arm"],
    "size": ["gcc", "firmware"],
    "compile": ["gcc", "clang", "firmware"],
    "ways": ["build", "gcc", "consumers"],
}


def main():
    options = arguments()
    jobs = TOOLS[options.what] + ["clang"] * ("clang++" in options.compiler) + ["peers"] * options.peers
    tools.bring(*jobs, dry_run=options.dry_run)
    try:
        options.trees = beside.trees(options.beside)
        JOBS[options.what](options)
    except building.Failed as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
