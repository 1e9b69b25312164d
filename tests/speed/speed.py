# SPDX-License-Identifier: MIT
"""tests/bench: how fast the library is, on this machine and on the cores that QEMU plays, and what it takes of a firmware."""
import argparse
import importlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import building  # noqa: E402
import counting  # noqa: E402
import tools  # noqa: E402

# The module of each job, and the tools that it needs.
JOBS = {
    "host": ("timing", ["gcc"]),
    "boards": ("counting", ["gcc", "clang-19", "firmware", "linux-arm"]),
    "size": ("sizing", ["gcc", "firmware"]),
    "compile": ("compiling", ["gcc", "clang", "firmware"]),
    "ways": ("ways", ["build", "gcc", "consumers"]),
}


def arguments():
    cores = counting.MACHINES
    parser = argparse.ArgumentParser(prog="tests/bench", description=__doc__)
    parser.add_argument("what", nargs="?", choices=JOBS, default="host")
    parser.add_argument("--only", choices=["matmul", "softmax", "attention"], help="rows of one operation")
    parser.add_argument("--filter", default="", metavar="REGEX", help="rows whose names match, such as 'T[1-3]$' or '64'")
    parser.add_argument("--flags", default="", help="more compiler flags, as in --flags='-O3 -funroll-loops'")
    parser.add_argument("--beside", metavar="FOLDER", help="another checkout: ratios to its figures")
    parser.add_argument("--rounds", type=int, help="of the host's rows (30), of compilers (15) or of ways (7)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be installed")
    on_host = parser.add_argument_group("host")
    on_host.add_argument("--compiler", nargs="+", default=["g++"], help="a column for each, such as g++ clang++")
    on_host.add_argument("--port", nargs="+", default=[""], help="a column for each, such as avx512 avx2; else what -march=native gives")
    on_host.add_argument("--peers", action="store_true", help="Eigen, OpenBLAS and oneDNN beside us; installs them")
    on_boards = parser.add_argument_group("boards")
    on_boards.add_argument("--core", nargs="+", choices=cores, metavar="CORE", help=f"some of {', '.join(cores)}")
    on_boards.add_argument("--level", nargs="+", choices=["2", "s", "3"], default=["2", "s"], help="some of -O2 and -Os, or -O3")
    return parser.parse_args()


def trees(folder):
    """This tree, and that in the folder if there is one."""
    if folder is None:
        return [building.ROOT]
    tree = pathlib.Path(folder).resolve()
    if not all((tree / inner / "tinyattn").is_dir() for inner in ("include", "ports/simd")):
        raise building.Failed(f"{folder} is no checkout of this project: it lacks include/tinyattn or ports/simd/tinyattn")
    return [building.ROOT, tree]


def main():
    options = arguments()
    module, its_tools = JOBS[options.what]
    clang, peers = ["clang"] * ("clang++" in options.compiler), ["peers"] * options.peers
    tools.bring(*its_tools, *clang, *peers, dry_run=options.dry_run)
    try:
        options.trees = trees(options.beside)
        importlib.import_module(module).bench(options)
    except building.Failed as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
