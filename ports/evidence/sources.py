# SPDX-License-Identifier: MIT
"""The code that Clang's tools read: the compiled library and all headers, with the flags of each port."""
import concurrent.futures
import os
import shutil
import subprocess
import tempfile

from tests.support.processes import ROOT, attempt, call

from . import parts

FILES = "(include|simd)/tinyattn/|src/"
FLAGS = ("-std=c++20", "-I.", "-Iinclude", "-Iports/simd", "-Itests", "-Itests/headers", "-Iports/boards",
         "-fconstexpr-steps=100000000")
LIBRARY = '#include "src/library.cpp"\n#include "tinyattn/tinyattn.hpp"\n#include "tinyattn/training.hpp"\n'
# The templates of layers, with the types of the workloads of the CRC table.
WORKLOADS = LIBRARY + '#define CELL "all"\n#define IS_SMALL false\n#include "tests/night/one_answer/cell.cpp"\n'
FPU = ("-mfloat-abi=hard",)
CORES = {"cortex-m0": (), "cortex-m3": (), "cortex-m4": FPU, "cortex-m33": FPU, "cortex-m55": FPU}


def of_core(name, *flags):
    """Returns the flags by which Clang reads code for a Cortex-M with the headers of GCC's C++ library. Kernels in
    assembly are for optimized code only."""
    flags = [f"-mcpu={name}", *flags, "-O2"]
    listed = call(["arm-none-eabi-g++", *flags, "-E", "-v", "-x", "c++", "/dev/null"]).partition("starts here:\n")[2]
    folders = [line.strip() for line in listed.partition("End of")[0].splitlines() if "/../" in line]
    return ["--target=arm-none-eabi", *flags, "-nostdinc++", "-nostdlibinc", *map("-isystem{}".format, folders)]


def ports():
    """Returns {port: flags} of the ports of x86-64, of neon and of each Cortex-M."""
    lists = (call(["python3", "-B", "ports/simd/priorities.py", "x86_64", f"ports/simd/tinyattn/port/{name}.hpp"])
             for name in ("native", "one_lane"))
    of_x86 = (line.partition(":")[::2] for text in lists for line in text.splitlines())
    return {"neon": ["--target=aarch64-linux-gnu"], **{name: of_core(name, *flags) for name, flags in CORES.items()},
            **{name: [f"-DTINYATTN_PORT={name}", *flags.split()] for name, flags in of_x86}}


def read_by(tool, code, flags, *words):
    """Returns what a tool of Clang 19 prints of some code."""
    if not shutil.which(tool):
        raise parts.Missing(f"there is no {tool}")
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/all.cpp"
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(code)
        status, output = attempt([tool, *words, file, "--", *FLAGS, *flags])
    if errors := [line for line in output.splitlines() if " error: " in line]:
        raise RuntimeError("\n".join(errors[:5]))
    return output


def each_read_by(tool, code, names, *words):
    """Returns what a tool of Clang 19 prints of some code on each of some ports."""
    flags = ports()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda name: read_by(tool, code, flags[name], *words), names or flags))
