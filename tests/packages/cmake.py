# SPDX-License-Identifier: MIT
"""Tests projects of CMake: find_package, FetchContent and add_subdirectory, on this machine and as firmware of a
Cortex-M4F.

    cmake.py COMPILER
"""
import re
import sys
import tarfile

from tests.packages import firmware, packages
from tests.packages.packages import CONSUMER, ROOT, in_a_folder
from tests.support import tap
from tests.support.processes import attempt, call

BOARD = firmware.board("mps2-an386")
SERIES = packages.VERSION.rpartition(".")[0]
FIRMWARE = [f"-DCMAKE_TOOLCHAIN_FILE={CONSUMER / 'cortex-m4f.cmake'}", "-DBOARD=mps2-an386",
            f"-DBOARDS={firmware.BOARDS}",
            "-DCMAKE_BUILD_TYPE=MinSizeRel"]


def archive(folder):
    """Makes an archive of the tree, as a release has it."""
    file = folder / "tinyattn.tar.gz"
    with tarfile.open(file, "w:gz") as tar:
        for name in packages.tree.tracked("."):
            tar.add(ROOT / name, f"tinyattn-{packages.VERSION}/{name}")
    return file


def configure(way, folder, main, *options, version=SERIES):
    where = {"find_package": lambda: [f"-DCMAKE_PREFIX_PATH={packages.make('cmake', folder)}", f"-DVERSION={version}"],
             "FetchContent": lambda: [f"-DARCHIVE={archive(folder)}"], "add_subdirectory": lambda: [f"-DTREE={ROOT}"]}
    return ["cmake", "-G", "Ninja", "-S", CONSUMER, "-B", folder / "build", f"-DWAY={way}", f"-DMAIN={main}",
            *where[way](), *options]


@in_a_folder
def consumes(folder, way, main, options=(), emulator=()):
    if lacks := packages.needs("cmake", *(["arm-none-eabi-g++"] if options else []), *emulator[:1]):
        return lacks
    call(configure(way, folder, main, *options), CXX=sys.argv[1])
    call(["cmake", "--build", folder / "build"])
    call([*emulator, folder / "build" / "program"])
    return ""


@in_a_folder
def rejects(folder, version):
    if lacks := packages.needs("cmake"):
        return lacks
    status, output = attempt(configure("find_package", folder, "main.cpp", version=version))
    return "" if status != 0 and "requested version" in output else f"version {version} is taken:\n{output[-800:]}"


def pages_name_this_series():
    pages = "".join((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "ports/packages/README.md"))
    versions = re.findall(r"find_package\(tinyattn (\S+) CONFIG REQUIRED\)", pages)
    return "" if versions == [SERIES] * 2 else f"they name {versions}"


WAYS = ("find_package", "FetchContent")  # tests/consumers tests add_subdirectory
tap.report([
    *((f"{way} on this machine", consumes, way, "main.cpp") for way in WAYS),
    *((f"{way} as firmware", consumes, way, "main.cpp", FIRMWARE, BOARD.emulator)
      for way in (*WAYS, "add_subdirectory")),
    ("find_package by a project of C alone", consumes, "find_package", "main.c"),
    ("find_package of another series finds nothing", rejects, "9.9"),
    ("the pages name this series", pages_name_this_series)])
