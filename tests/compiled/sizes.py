# SPDX-License-Identifier: MIT
"""What attention layers of 1 to 16 usual shapes take in the flash of a Cortex-M4F: by the headers, and by the compiled library.

    sizes.py ROOT
"""
import concurrent.futures
import functools
import itertools
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap

CORE = ["-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-mthumb"]
LANGUAGE = ["-std=c++20", "-ffreestanding", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-ffunction-sections", "-fdata-sections"]
LINK = ["-nostdlib", "-Wl,--gc-sections,--entry=entry", "-lgcc"]
COUNTS = [1, 4, 8, 16]
LEVELS = ["-Os", "-O2"]
FLASH = {".text", ".rodata", ".data", ".ARM.exidx", ".init_array"}
HERE = pathlib.Path(__file__).resolve().parent


def call(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def flash(image):
    sections = [line.split() for line in call(["arm-none-eabi-size", "-A", image]).splitlines()]
    return sum(int(words[1]) for words in sections if len(words) == 3 and words[0] in FLASH)


def measure(root, flags, folder, level, way, count):
    image = folder / f"{level}{way}{count}.elf"
    sources = [HERE / "firmware.cpp"] + ([root / "src" / "library.cpp"] if way == "compiled" else [])
    call(["arm-none-eabi-gcc", *CORE, "-O2", "-ffreestanding", "-ffunction-sections", "-fno-tree-loop-distribute-patterns", "-c",
          root / "ports" / "boards" / "memory.c", "-o", f"{image}.memory.o"])
    includes = [f"-I{root / 'include'}", f"-I{root / 'ports' / 'simd'}"]
    defined = [f"-DSHAPES={count}", *(["-DCOMPILED"] if way == "compiled" else []), *flags]
    call(["arm-none-eabi-g++", *CORE, *LANGUAGE, level, *includes, *defined, *sources, f"{image}.memory.o", *LINK, "-o", image])
    return flash(image)


def measure_all(root, counts, flags=()):
    """{(level, way, count of shapes): bytes}, of the library of the tree `root`."""
    rows = list(itertools.product(LEVELS, ["headers", "compiled"], counts))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        sizes = list(pool.map(lambda row: measure(root, flags, pathlib.Path(folder), *row), rows))
    return dict(zip(rows, sizes))


def print_table(sizes):
    print("# flash of a Cortex-M4F, bytes")
    print("# " + f"{'shapes':<20}" + "".join(f"{count:>8}" for count in COUNTS))
    for level, way in itertools.product(LEVELS, ["headers", "compiled"]):
        print("# " + f"{way + ', ' + level:<20}" + "".join(f"{sizes[level, way, count]:>8}" for count in COUNTS))


def pays(sizes, level):
    """All shapes share the kernels: another costs little more than its call, least of all with the library."""
    headers, compiled = sizes[level, "headers", 16], sizes[level, "compiled", 16]
    another = {way: (sizes[level, way, 16] - sizes[level, way, 4]) / 12 for way in ("headers", "compiled")}
    if compiled < headers and another["compiled"] < 200 and another["headers"] < 300:
        return ""
    return f"{compiled} bytes against {headers}; another shape costs {another['compiled']:.0f} against {another['headers']:.0f}"


def main(root):
    if not shutil.which("arm-none-eabi-g++"):
        tap.report([("sizes", lambda: tap.Skip("there is no arm-none-eabi-g++"))])
    sizes = measure_all(root, COUNTS)
    print_table(sizes)
    tap.report([(f"sixteen shapes at {level}", functools.partial(pays, sizes, level)) for level in LEVELS])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
