# SPDX-License-Identifier: MIT
"""The README's layer on this machine, in each way in which a program may take the library."""
import pathlib
import statistics
import tempfile

import building
import tables
import timing
from rows import T1

HOST_FLAGS = ((), ("-mavx2", "-mfma"), ("-march=native",))
WAYS = [
    ("Meson", ()),
    ("CMake", ()),
    ("CMake", ("-DCMAKE_BUILD_TYPE=Release",)),
    *(("src/library.cpp", flags) for flags in HOST_FLAGS),
    *(("headers", flags) for flags in HOST_FLAGS),
]


def library(way, flags, folder):
    """What a program is linked with."""
    if way == "Meson":
        building.call(["meson", "setup", "-Dtests=disabled", "-Dexamples=disabled", *flags, folder])
        building.call(["meson", "compile", "-C", folder])
        return folder / "src" / "libtinyattn.a"
    if way == "CMake":
        building.call(["cmake", "-S", building.ROOT / "ports" / "cmake", "-B", folder, *flags])
        building.call(["cmake", "--build", folder, "--target", "tinyattn_compiled"])
        return folder / "libtinyattn_compiled.a"
    made = folder.with_suffix(".o")
    building.call(["g++", *building.language(), "-O2", *flags, "-c", building.ROOT / way, "-o", made])
    return made


def program(build, number, way, flags):
    title = f"way {number}"
    if way == "headers":
        return timing.Program(build, title, "g++", "tinyattn.cpp", [T1], "-O2", *flags)
    made = library(way, flags, build.folder / f"library-{number}")
    return timing.Program(build, title, "g++", "compiled.cpp", [T1], "-O2", libraries=[made])


def bench(options):
    with tempfile.TemporaryDirectory() as folder:
        build = building.Build(pathlib.Path(folder))
        programs = [program(build, number, *way) for number, way in enumerate(WAYS)]
        build.demand()
        timing.measure(programs, [T1], options.rounds or 7)
    times = [f"{statistics.median(ns for ns, _ in each.samples[T1]) / 1000:.1f}" for each in programs]
    tables.print_table(["", "", "µs"], [[way, " ".join(flags), time] for (way, flags), time in zip(WAYS, times)])
    print(f"\nA layer of 64 features, 32 tokens and 4 heads. {timing.PROCESSOR}, {tables.compilers('g++')}.")
