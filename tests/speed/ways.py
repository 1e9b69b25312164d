# SPDX-License-Identifier: MIT
"""The README's layer on this machine, in each way in which a program may take the library."""
import functools
import pathlib
import statistics
import tempfile

import building
import tables
import timing

T1 = "attention T1"
FLAGS = ("", "-mavx2 -mfma", "-march=native")
CMAKE = "cmake -S ports/cmake -B {0} && cmake --build {0} --target tinyattn_compiled && mv {0}/libtinyattn_compiled.a {0}.a"
# What makes the library in a file. The headers need none.
LIBRARIES = {
    "Meson": "meson setup -Dtests=disabled -Dexamples=disabled {0} && meson compile -C {0} && mv {0}/src/libtinyattn.a {0}.a",
    "CMake": CMAKE,
    "CMake, a release": CMAKE.replace("-S", "-DCMAKE_BUILD_TYPE=Release -S"),
    **{f"src/library.cpp {flags}": f"g++ -std=c++20 -O2 {flags} -Iinclude -Iports/simd -c src/library.cpp -o {{0}}.a" for flags in FLAGS},
}


def programs(build):
    """{way: program}"""
    for number, (way, command) in enumerate(LIBRARIES.items()):
        made = build.folder / f"library-{number}"
        building.call(["bash", "-c", command.format(made)])
        yield way, timing.program(build, f"way-{number}", [T1], "g++", "compiled.cpp", "-O2", libraries=[f"{made}.a"])
    for flags in FLAGS:
        yield f"headers {flags}", timing.program(build, f"headers{flags}", [T1], "g++", "tinyattn.cpp", "-O2", *flags.split())


def bench(options):
    if options.beside:
        raise building.Failed("ways cannot stand beside another checkout")
    with tempfile.TemporaryDirectory() as folder:
        build = building.Build(pathlib.Path(folder))
        tasks = {(way, "µs", "ours"): functools.partial(timing.sample, program, T1) for way, program in programs(build)}
        build.demand()
        samples = tables.take_turns(tasks, options.rounds or 15)
    tables.print_ours(samples, lambda _row, _column, its: f"{statistics.median(ns for ns, _ in its) / 1000:.1f}")
    print(f"\nA layer of 64 features, 32 tokens and 4 heads. {timing.PROCESSOR}, {tables.compilers(['g++'])}.")
