# SPDX-License-Identifier: MIT
"""Tests projects that take tinyattn by CMake (find_package, FetchContent and, as firmware of a
Cortex-M4F, add_subdirectory), and by Meson's wrap file from a local archive. In a project of C alone, CMake builds the
compiled library from the same objects and flags as Meson.

    projects.py COMPILER MESON_BUILD
"""
import json
import pathlib
import re
import shlex
import shutil
import sys
import tarfile

from tests.products.packages.packages import BOARDS, CONSUMER, ROOT, VERSION, board, made, needs, tree
from tests.support import tap
from tests.support.processes import attempt, call

SERIES = VERSION.rpartition(".")[0]
FIRMWARE = [f"-DCMAKE_TOOLCHAIN_FILE={CONSUMER / 'cortex-m4f.cmake'}", "-DBOARD=mps2-an386",
            f"-DBOARDS={BOARDS}", "-DCMAKE_BUILD_TYPE=MinSizeRel"]
PAGE = (ROOT / "ports" / "packages" / "README.md").read_text(encoding="utf-8")
MESON = re.search(r"^## Meson\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)[1].partition("In `meson.build`")
COMPARED = ("-m", "-std=", "-fno-", "-fPIC", "-UTINYATTN_PORT", "-DTINYATTN_")
OPTIMIZED = {"-O2", "-O3", "-Os"}


# --- CMake ---


def release(folder):
    """Makes an archive of the tree, as in a release."""
    file = folder / "tinyattn.tar.gz"
    with tarfile.open(file, "w:gz") as tar:
        for name in tree.tracked("."):
            tar.add(ROOT / name, f"tinyattn-{VERSION}/{name}")
    return file


def configure(way, folder, main, *options, version=SERIES):
    where = {"find_package": lambda: [f"-DCMAKE_PREFIX_PATH={made('cmake')}", f"-DVERSION={version}"],
             "FetchContent": lambda: [f"-DARCHIVE={release(folder)}"],
             "add_subdirectory": lambda: [f"-DTREE={ROOT}"]}
    return ["cmake", "-G", "Ninja", "-S", CONSUMER, "-B", folder / "build", f"-DWAY={way}",
            f"-DMAIN={main}", *where[way](), *options]


@tap.in_folder
def by_cmake(folder, way, main, options=(), emulator=()):
    if lacks := needs("cmake", *(["arm-none-eabi-g++"] if options else []), *emulator[:1]):
        return lacks
    call(configure(way, folder, main, *options), CXX=sys.argv[1])
    call(["cmake", "--build", folder / "build"])
    return call([*emulator, folder / "build" / "program"])


@tap.in_folder
def rejects_version(folder, version):
    if lacks := needs("cmake"):
        return lacks
    status, output = attempt(configure("find_package", folder, "main.cpp", version=version))
    is_right = status != 0 and "requested version" in output
    return "" if is_right else f"version {version} is taken:\n{output[-800:]}"


def objects(build):
    """Returns, for each object of the library, its source, the flags to compare, and whether it is optimized. library.cpp,
    everything in one unit, is compiled only by tests."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    commands = [(pathlib.Path(entry["directory"], entry["file"]).resolve(), shlex.split(entry["command"])) for entry in entries]
    return sorted((source.name, sorted({flag for flag in flags if flag.startswith(COMPARED)}), not OPTIMIZED.isdisjoint(flags))
                  for source, flags in commands if source.parent == ROOT / "src" and source.name != "library.cpp")


@tap.in_folder
def as_meson_builds(folder, build_type):
    if lacks := needs("cmake"):
        return lacks
    call(configure("add_subdirectory", folder, "main.c", f"-DCMAKE_BUILD_TYPE={build_type}",
                   "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"), CXX=sys.argv[1])
    ours, mesons = objects(folder / "build"), objects(pathlib.Path(sys.argv[2]))
    return "" if ours == mesons and ours else f"{ours}\ninstead of\n{mesons}"


def pages_name_this_series():
    pages = (ROOT / "README.md").read_text(encoding="utf-8") + PAGE
    versions = re.findall(r"find_package\(tinyattn (\S+) CONFIG REQUIRED\)", pages)
    return "" if versions == [SERIES] * 2 else f"they name {versions}"


# --- Meson ---


def lines_of_code(text):
    return "\n".join(re.findall(r"^    (.*)", text, re.MULTILINE))


def wrapped(folder):
    """Makes a project, and runs the commands of the page in it. Meson finds the archive in its
    cache."""
    shutil.copytree(CONSUMER / "wrap", folder / "project")
    shutil.copy(CONSUMER / "main.cpp", folder / "project")
    commands = re.sub(r"\bP/", f"{made('wrap')}/", lines_of_code(MESON[0]))
    call(["sh", "-ec", commands], folder=folder / "project")
    return folder / "project"


@tap.in_folder
def by_wrap(folder):
    project = wrapped(folder)
    call(["meson", "setup", "-Dwerror=true", f"-Dat_least=>={VERSION}", folder / "build", project], CXX=sys.argv[1])
    call(["meson", "test", "-C", folder / "build"])
    return ""


@tap.in_folder
def as_the_page_has_it(folder):
    """Checks a project that has the page's meson.build."""
    project = wrapped(folder)
    (project / "meson.build").write_text(lines_of_code(MESON[2]))
    (project / "main.cpp").write_text('#include "tinyattn/tinyattn.hpp"\n'
                                      'int main() { return tinyattn::exp(0.0f) == 1.0f ? 0 : 1; }\n')
    call(["meson", "setup", folder / "build", project], CXX=sys.argv[1])
    call(["meson", "compile", "-C", folder / "build"])
    return call([folder / "build" / "yours"])


WAYS = ("find_package", "FetchContent", "add_subdirectory")
EMULATOR = board("mps2-an386").emulator
tap.report([
    *((f"{way} on this machine", by_cmake, way, "main.cpp") for way in WAYS),
    *((f"{way} as firmware", by_cmake, way, "main.cpp", FIRMWARE, EMULATOR) for way in WAYS),
    *((f"{way} by a project of C alone", by_cmake, way, "main.c") for way in ("find_package", "add_subdirectory")),
    *((f"the library as Meson builds it, build type {kind or 'not given'}", as_meson_builds, kind)
      for kind in ("", "Release", "Debug")),
    ("find_package of another series finds nothing", rejects_version, "9.9"),
    ("the pages name this series", pages_name_this_series),
    ("a project takes Meson's archive", by_wrap),
    ("a project as the page has it", as_the_page_has_it)])
