# SPDX-License-Identifier: MIT
"""The README's layer on this machine, in each way in which a program may take the library."""
import functools

import building

SOURCE = building.PROGRAMS / "way.c"
LIBRARY = building.ROOT / "src" / "library.cpp"
HEADERS = building.PROGRAMS / "way.cpp"
CMAKE_PROJECT = building.ROOT / "tests" / "consumers" / "cmake_in_c"
HOST_FLAGS = (["-O2"], ["-O2", "-mavx2", "-mfma"], ["-O2", "-march=native"])


def link(folder, *libraries):
    """A program in C, with the library."""
    program = folder / "program"
    building.call(["gcc", "-std=c99", "-O2", f"-I{building.ROOT / 'include'}", SOURCE, *libraries,
                   "-o", program])
    return program


def by_meson(folder, *options):
    setup = ["meson", "setup", "-Dtests=disabled", "-Dexamples=disabled", *options]
    building.call([*setup, folder / "build", building.ROOT])
    building.call(["meson", "compile", "-C", folder / "build"])
    return link(folder, folder / "build" / "src" / "libtinyattn.a")


def by_cmake(folder, *options):
    building.call(["cmake", "-B", folder / "build", f"-DTINYATTN={building.ROOT}",
                   f"-DPROGRAM={SOURCE}", *options, CMAKE_PROJECT])
    building.call(["cmake", "--build", folder / "build"])
    return folder / "build" / "program"


def by_hand(source, folder, *flags):
    made = folder / "library.o"
    building.call(["g++", *building.language(building.ROOT), "-fno-exceptions",
                   "-fno-threadsafe-statics", *flags, "-c", source, "-o", made])
    return link(folder, made)


# How the library is taken, with which options or flags, and who builds that.
WAYS = [
    ("Meson", [], by_meson),
    ("CMake", [], by_cmake),
    ("CMake", ["-DCMAKE_BUILD_TYPE=Release"], by_cmake),
    *(("src/library.cpp", flags, functools.partial(by_hand, LIBRARY)) for flags in HOST_FLAGS),
    *(("headers", flags, functools.partial(by_hand, HEADERS)) for flags in HOST_FLAGS),
]


ROUNDS = 7


def measure():
    """A line for each: the way, its flags, the port and the least time. Programs take turns."""
    programs = [build(building.empty_folder("ways", str(number)), *flags)
                for number, (_, flags, build) in enumerate(WAYS)]
    rounds = [[building.call([program]).split() for program in programs] for _ in range(ROUNDS)]
    return [["", "", "port", "µs"]] + [
        [way, " ".join(flags), *min(said, key=lambda words: float(words[1]))]
        for (way, flags, _), said in zip(WAYS, zip(*rounds))]
