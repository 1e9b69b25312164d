# SPDX-License-Identifier: MIT
"""Times a layer of 32 tokens and 64 features on this machine, for each way in which a program can use the library."""
import functools
import pathlib
import statistics
import tempfile

from tests.speed import programs, rows, tables, timing
from tests.support.processes import Failed, call

T1 = "attention T1"
FLAGS = ("", "-mavx2 -mfma", "-march=native")
CMAKE = ("cmake -S ports/cmake -B {0} && cmake --build {0} --target tinyattn_compiled"
         " && mv {0}/libtinyattn_compiled.a {0}.a")
# {way: the command that builds the compiled library there}. The headers need none.
LIBRARIES = {
    "Meson": "meson setup -Dtests=disabled -Dexamples=disabled {0} && meson compile -C {0}"
             " && mv {0}/src/libtinyattn.a {0}.a",
    "CMake": CMAKE,
    "CMake, a release": CMAKE.replace("-S", "-DCMAKE_BUILD_TYPE=Release -S"),
    **{f"src/library.cpp {flags}": f"g++ -std=c++20 -O2 {flags} -Iinclude -Iports/simd -c src/library.cpp -o {{0}}.a"
       for flags in FLAGS},
}


def link(folder, name, source, *flags):
    """Compiles the program of the row, as a user's project does. Returns its path."""
    program = folder / name
    sources = [programs.SOURCES / file for file in ("timed.cpp", source)]
    call(["g++", *programs.language(), "-O2", *flags[:-1], *rows.flags(T1), *sources, flags[-1], "-o", program])
    return program


def make(folder):
    """Yields a way and its program."""
    for number, (way, command) in enumerate(LIBRARIES.items()):
        library = folder / f"library-{number}"
        call(["bash", "-c", command.format(library)])
        yield way, link(folder, f"way-{number}", "compiled.cpp", f"{library}.a")
    for number, flags in enumerate(FLAGS):
        yield f"headers {flags}", link(folder, f"headers-{number}", "tinyattn.cpp", *flags.split(),
                                       "-ffp-contract=fast")


def bench(options):
    if options.beside:
        raise Failed("ways cannot be measured next to another checkout")
    with tempfile.TemporaryDirectory() as folder:
        tasks = {(way, "µs", "ours"): functools.partial(timing.sample, program)
                 for way, program in make(pathlib.Path(folder))}
        samples = tables.take_turns(tasks, options.rounds or 15)
    tables.print_ours(samples, lambda _row, _column, its: f"{statistics.median(ns for ns, _ in its) / 1000:.1f}")
    print(f"\nA layer of 64 features, 32 tokens and 4 heads. {timing.PROCESSOR}, {tables.compilers(['g++'])}.")
