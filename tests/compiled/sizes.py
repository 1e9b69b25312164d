# SPDX-License-Identifier: MIT
"""What attention layers of 1 to 16 usual shapes take in the flash of a Cortex-M4F: by the headers, and by the compiled library."""
import dataclasses
import functools
import itertools
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "footprint")]
import building  # noqa: E402
import contents  # noqa: E402
import tap  # noqa: E402

COUNTS = [1, 4, 8, 16]
LEVELS = ["-Os", "-O2"]
WAYS = ["headers", "compiled"]


def measure_all(tree, counts):
    """{(level, way): {count of shapes: bytes}}, of the library of a tree: images without startup code and a memory map."""
    machine = dataclasses.replace(building.board("mps2-an386"), libraries=("-lgcc",))
    images = {row: {} for row in itertools.product(LEVELS, WAYS)}
    with tempfile.TemporaryDirectory() as folder:
        build = building.Build(folder)
        memory = [build.compile(machine, source, *flags) for source, flags in machine.support if source.name == "memory.c"]
        for (level, way), count in itertools.product(images, counts):
            flags = (*building.language(tree), level)
            used = ["-DCOMPILED"] if way == "compiled" else []
            objects = [build.compile(machine, HERE / "firmware.cpp", *flags, f"-DSHAPES={count}", *used), *memory]
            if used:
                objects.append(build.compile(machine, tree / "src" / "library.cpp", *flags))
            images[level, way][count] = build.link(machine, f"{way}{level}{count}", objects, "-Wl,--entry=entry")
        build.demand()
        return {row: {count: contents.flash(machine, image) for count, image in its.items()} for row, its in images.items()}


def pays(sizes, level):
    """All shapes share the kernels: another costs little more than its call, least of all with the library."""
    headers, compiled = (sizes[level, way][16] for way in WAYS)
    another_by_headers, another_compiled = ((sizes[level, way][16] - sizes[level, way][4]) / 12 for way in WAYS)
    if compiled < headers and another_compiled < 200 and another_by_headers < 300:
        return ""
    return f"{compiled} bytes against {headers}; another shape costs {another_compiled:.0f} against {another_by_headers:.0f}"


def main():
    if not shutil.which("arm-none-eabi-g++"):
        tap.report([("sizes", lambda: tap.Skip("there is no arm-none-eabi-g++"))])
    sizes = measure_all(building.ROOT, COUNTS)
    print(f"# flash of a Cortex-M4F, bytes\n# {'shapes':<20}" + "".join(f"{count:>8}" for count in COUNTS))
    for (level, way), of_counts in sizes.items():
        print(f"# {f'{way}, {level}':<20}" + "".join(f"{size:>8}" for size in of_counts.values()))
    tap.report([(f"sixteen shapes at {level}", functools.partial(pays, sizes, level)) for level in LEVELS])


if __name__ == "__main__":
    main()
