# SPDX-License-Identifier: MIT
"""Checks that CMake, in a project of C alone, builds the compiled library from the same objects and flags as Meson.

    as_meson_builds.py MESON_BUILD COMPILER
"""
import json
import pathlib
import shlex
import shutil
import sys
import tempfile

from tests.support import tap
from tests.support.processes import ROOT, call

COMPARED = ("-m", "-std=", "-fno-", "-fPIC", "-UTINYATTN_PORT", "-DTINYATTN_")
OPTIMIZED = {"-O2", "-O3", "-Os"}
BY_HAND = "library.cpp"  # everything in one unit; only tests compile it


def objects(build):
    """Returns, for each object of the library, its source, the flags to compare, and whether it is optimized."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    commands = [(pathlib.Path(entry["directory"], entry["file"]).resolve(), shlex.split(entry["command"]))
                for entry in entries]
    return sorted((source.name, sorted({flag for flag in flags if flag.startswith(COMPARED)}),
                   not OPTIMIZED.isdisjoint(flags))
                  for source, flags in commands if source.parent == ROOT / "src" and source.name != BY_HAND)


def same(build_type, meson_build, compiler):
    if not shutil.which("cmake"):
        return tap.Skip("there is no cmake")
    with tempfile.TemporaryDirectory() as build:
        call(["cmake", "-B", build, f"-DCMAKE_BUILD_TYPE={build_type}", f"-DTREE={ROOT}", "-DWAY=", "-DMAIN=main.c",
              "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", ROOT / "tests/products/packages/consumer"], CXX=compiler)
        if not build_type:
            call(["cmake", "--build", build])
            call([pathlib.Path(build, "program")])
        ours, mesons = objects(pathlib.Path(build)), objects(pathlib.Path(meson_build))
    return "" if ours == mesons and ours else f"{ours}\ninstead of\n{mesons}"


tap.report([(f"build type {kind or 'not given'}", same, kind, *sys.argv[1:]) for kind in ("", "Release", "Debug")])
