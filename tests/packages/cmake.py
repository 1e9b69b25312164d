# SPDX-License-Identifier: MIT
"""Projects that are CMake: find_package, FetchContent and add_subdirectory, on this machine and as firmware of a Cortex-M4F.

    cmake.py COMPILER
"""
import re
import sys
import tarfile

import packages
from packages import CONSUMER, ROOT, building

BOARD = "mps2-an386"
VERSION = packages.tree.version()
OF_THIS_SERIES = VERSION.rpartition(".")[0]
FIRMWARE = [f"-DCMAKE_TOOLCHAIN_FILE={CONSUMER / 'cortex-m4f.cmake'}", f"-DBOARD={BOARD}", f"-DBOARDS={building.BOARDS}",
            "-DCMAKE_BUILD_TYPE=MinSizeRel"]


def archive(folder):
    """The tree as a release has it."""
    file = folder / "tinyattn.tar.gz"
    with tarfile.open(file, "w:gz") as packed:
        for name in packages.tree.tracked("."):
            packed.add(ROOT / name, f"tinyattn-{VERSION}/{name}")
    return file


def taken(way, folder, version=OF_THIS_SERIES):
    """What a project that takes it so tells CMake."""
    if way == "find_package":
        return [f"-DCMAKE_PREFIX_PATH={packages.made('cmake', folder)}", f"-DVERSION={version}"]
    return [f"-DARCHIVE={archive(folder)}"] if way == "FetchContent" else [f"-DTREE={ROOT}"]


def configure(way, folder, main, *options):
    return ["cmake", "-G", "Ninja", "-S", CONSUMER, "-B", folder / "build", f"-DWAY={way}", f"-DMAIN={main}", *options]


@packages.in_a_folder
def consumes(folder, way, main, options, machine):
    if lacks := packages.needs("cmake", machine.cpp[0], *machine.wrapper[:1]):
        return lacks
    building.call(configure(way, folder, main, *taken(way, folder), *options), CXX=sys.argv[1])
    building.call(["cmake", "--build", folder / "build"])
    building.call([*machine.wrapper, folder / "build" / "program"])
    return ""


@packages.in_a_folder
def refuses(folder, version):
    if lacks := packages.needs("cmake"):
        return lacks
    status, said = building.attempt(configure("find_package", folder, "main.cpp", *taken("find_package", folder, version)))
    return "" if status != 0 and "requested version" in said else f"version {version} is not refused:\n{said[-800:]}"


def pages_name_this_series():
    pages = "".join((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "ports/packages/README.md"))
    named = re.findall(r"find_package\(tinyattn (\S+) CONFIG REQUIRED\)", pages)
    return "" if named == [OF_THIS_SERIES] * 2 else f"they name {named}"


WAYS = ("find_package", "FetchContent")  # tests/consumers has add_subdirectory
packages.tap.report([
    *((f"{way} on this machine", consumes, way, "main.cpp", [], building.host()) for way in WAYS),
    *((f"{way} as firmware", consumes, way, "main.cpp", FIRMWARE, building.board(BOARD)) for way in (*WAYS, "add_subdirectory")),
    ("find_package by a project of C alone", consumes, "find_package", "main.c", [], building.host()),
    ("find_package of another series is refused", refuses, "9.9"),
    ("the pages name this series", pages_name_this_series)])
