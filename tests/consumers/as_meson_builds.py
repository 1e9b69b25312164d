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

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import building  # noqa: E402
import tap  # noqa: E402

PROGRAM = pathlib.Path("tests", "compiled", "attention")
COMPARED = ("-m", "-std=", "-fno-", "-fPIC", "-UTINYATTN_PORT", "-DTINYATTN_")


def configured(build_type):
    build = pathlib.Path(tempfile.mkdtemp(dir=folder))
    building.call(["cmake", "-G", "Ninja", "-B", build, f"-DCMAKE_BUILD_TYPE={build_type}", f"-DTINYATTN={ROOT}",
                   f"-DPROGRAM={ROOT / PROGRAM}.c", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", HERE / "cmake_in_c"], CXX=compiler)
    return build


def objects(build):
    """Of the library: their sources, the flags that are compared, and whether they are optimized."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    commands = [(pathlib.Path(entry["file"]).name, shlex.split(entry["command"])) for entry in entries]
    return sorted((source, sorted({flag for flag in flags if flag.startswith(COMPARED)}),
                   [flag for flag in flags if flag.startswith("-O")][-1:] in (["-O2"], ["-O3"], ["-Os"]))
                  for source, flags in commands if source in ("library.cpp", "choose.cpp", "port.cpp"))


def same(ours, meson):
    return "" if ours == meson else f"{ours}\ninstead of\n{meson}"


def same_flags(build_type):
    return same(objects(configured(build_type)), objects(meson_build))


def same_ports():
    """Which is chosen, which can be asked for, and their bits."""
    build = configured("")
    building.call(["cmake", "--build", build])
    building.call(["ninja", "-C", meson_build, PROGRAM])
    return same(*([building.call([program], TINYATTN_PORT=port) for port in ("", *ports)]
                  for program in (build / "program", meson_build / PROGRAM)))


meson_build, compiler, *ports = pathlib.Path(sys.argv[1]), *sys.argv[2:]
with tempfile.TemporaryDirectory() as folder:
    tap.report([("the same ports are chosen", same_ports), *(
        (f"the same flags, build type {kind or 'not given'}", functools.partial(same_flags, kind)) for kind in ("", "Release", "Debug"))])
