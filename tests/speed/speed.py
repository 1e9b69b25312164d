# SPDX-License-Identifier: MIT
"""tests/bench: how fast the library is, on this machine and on the cores that QEMU plays, and how long compilers take
for it."""
import argparse
import pathlib
import sys

from tests.speed.costs import costs
from tests.speed import compiling, counting, timing, ways
from tests.support import tools
from tests.support.processes import ROOT, Failed

# {job: (its function, the tools that it needs)}
JOBS = {
    "host": (timing.bench, ["gcc"]),
    "boards": (counting.bench, ["gcc", "clang-19", "firmware", "linux-arm"]),
    "compile": (compiling.bench, ["gcc", "clang", "firmware"]),
    "costs": (costs.bench, ["gcc", "firmware"]),
    "ways": (ways.bench, ["build", "gcc", "consumers"]),
}


def folder_with(part, what):
    """Returns a function that takes an argument: the folder of a project, which has a part."""
    def checked(folder):
        if not pathlib.Path(folder, part).exists():
            raise argparse.ArgumentTypeError(f"{folder} is no {what}: it lacks {part}")
        return pathlib.Path(folder).resolve()
    return checked


def arguments():
    cores = counting.CORES
    parser = argparse.ArgumentParser(prog="tests/bench", description=__doc__)
    parser.add_argument("what", nargs="?", choices=JOBS, default="host")
    parser.add_argument("--only", choices=["matmul", "outer", "returned", "linear", "softmax", "attention", "token",
                                           "prompt", "window", "module"],
                        help="rows of one operation")
    parser.add_argument("--filter", default="", metavar="REGEX",
                        help="rows whose names match, such as 'T[1-3]$' or '64'")
    parser.add_argument("--flags", default="", help="more compiler flags, as in --flags='-O3 -funroll-loops'")
    parser.add_argument("--beside", type=folder_with("include/tinyattn", "checkout of this project"),
                        metavar="FOLDER", help="another checkout: ratios to its figures")
    parser.add_argument("--rounds", type=int, help="of the host's rows (30), of compilers (5) or of ways (15)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be installed")
    parser.add_argument("--compiler", nargs="+", default=["g++"], help="host: a column for each, such as g++ clang++")
    parser.add_argument("--port", nargs="+", default=[""],
                        help="host: a column for each, such as avx512 avx2; else one for -march=native")
    parser.add_argument("--peers", action="store_true",
                        help="host: Eigen, OpenBLAS and oneDNN next to us; installs them")
    parser.add_argument("--llama2c", type=folder_with("run.c", "clone of github.com/karpathy/llama2.c"),
                        metavar="FOLDER", help="host, boards: a clone of karpathy/llama2.c; its tokens next to ours")
    parser.add_argument("--cmsis-nn", metavar="FOLDER",
                        type=folder_with("Include/arm_nnfunctions.h", "clone of github.com/ARM-software/CMSIS-NN"),
                        help="boards: a clone of CMSIS-NN; its int8 products next to ours")
    parser.add_argument("--onnx2c", type=folder_with("onnx2c", "build of github.com/kraiskil/onnx2c"), metavar="FOLDER",
                        help="boards: a folder with the built onnx2c; its module next to ours; installs PyTorch")
    parser.add_argument("--emlearn", metavar="FOLDER",
                        type=folder_with("emlearn/eml_net.h", "clone of github.com/emlearn/emlearn"),
                        help="boards: a clone of emlearn; its layers of floats next to ours")
    parser.add_argument("--core", nargs="+", choices=cores, default=[], metavar="CORE",
                        help=f"boards: some of {', '.join(cores)}")
    parser.add_argument("--level", nargs="+", choices=["2", "s", "3"], default=["2", "s"],
                        help="boards: some of -O2 and -Os, or -O3")
    return parser.parse_args()


def main():
    options = arguments()
    bench, its_tools = JOBS[options.what]
    more = {"clang": "clang++" in options.compiler, "peers": options.peers, "pytorch": options.onnx2c}
    tools.bring(*its_tools, *(job for job in more if more[job]), dry_run=options.dry_run)
    options.trees = {"ours": ROOT} | ({"beside": options.beside} if options.beside else {})
    try:
        bench(options)
    except Failed as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
