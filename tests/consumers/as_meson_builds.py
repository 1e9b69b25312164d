# SPDX-License-Identifier: MIT
"""The compiled library as CMake builds it, for a project of C alone, beside that of Meson.

    as_meson_builds.py MESON_BUILD COMPILER PORT...
"""
import functools
import json
import pathlib
import shlex
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import building  # noqa: E402
import tap  # noqa: E402

PROGRAM = pathlib.Path("tests", "compiled", "attention")
COMPARED = ("-m", "-std=", "-fno-", "-fPIC", "-UTINYATTN_PORT", "-DTINYATTN_")
OPTIMIZED = {"-O2", "-O3", "-Os"}


def objects(build):
    """Of the library: their sources, the flags that are compared, and whether they are optimized."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    commands = [(pathlib.Path(entry["directory"], entry["file"]).resolve(), shlex.split(entry["command"])) for entry in entries]
    return sorted((source.name, sorted({flag for flag in flags if flag.startswith(COMPARED)}), not OPTIMIZED.isdisjoint(flags))
                  for source, flags in commands if source.parent == ROOT / "src")


def answers(program):
    """Which port is chosen, which can be asked for, and their bits."""
    return [building.call([program], TINYATTN_PORT=port) for port in ("", *ports)]


def same(build_type):
    build = pathlib.Path(folder, f"build{build_type}")
    building.call(["cmake", "-G", "Ninja", "-B", build, f"-DCMAKE_BUILD_TYPE={build_type}", f"-DTINYATTN={ROOT}",
                   f"-DPROGRAM={ROOT / PROGRAM}.c", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", ROOT / "tests" / "consumers" / "cmake_in_c"],
                  CXX=compiler)
    ours, meson = [objects(build)], [objects(meson_build)]
    if not build_type:
        building.call(["cmake", "--build", build])
        building.call(["ninja", "-C", meson_build, PROGRAM])
        ours, meson = ours + answers(build / "program"), meson + answers(meson_build / PROGRAM)
    return "" if ours == meson else f"{ours}\ninstead of\n{meson}"


meson_build, compiler, *ports = pathlib.Path(sys.argv[1]), *sys.argv[2:]
with tempfile.TemporaryDirectory() as folder:
    tap.report([("the same flags, ports and bits, if no build type is given", functools.partial(same, "")),
                *((f"the same flags, build type {kind}", functools.partial(same, kind)) for kind in ("Release", "Debug"))])
