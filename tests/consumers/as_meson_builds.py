# SPDX-License-Identifier: MIT
"""The compiled library as CMake builds it, for a project of C alone, beside that of Meson.

    as_meson_builds.py MESON_BUILD PORT... -- COMPILER
"""
import functools
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402

PROGRAM = ROOT / "tests" / "compiled" / "attention.c"
COMPARED = ("-m", "-std=", "-fno-", "-fPIC", "-UTINYATTN_PORT", "-DTINYATTN_")
OPTIMIZED = ("-O2", "-O3", "-Os")


def call(*command, **environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, encoding="utf-8",
                          env={**os.environ, **environment}, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def configure(build, kind, compiler):
    call("cmake", "-G", "Ninja", "-B", build, f"-DCMAKE_BUILD_TYPE={kind}", f"-DTINYATTN={ROOT}",
         f"-DPROGRAM={PROGRAM}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
         ROOT / "tests" / "consumers" / "cmake_in_c", CXX=compiler)


def flags_of_units(build):
    """{(source, port): all flags} of the library's objects."""
    listed = (build / "compile_commands.json").read_text(encoding="utf-8")
    units = {}
    for entry in json.loads(listed):
        source, flags = pathlib.Path(entry["file"]).name, shlex.split(entry["command"])
        if source in ("library.cpp", "choose.cpp", "port.cpp"):
            port = next((flag for flag in flags if flag.startswith("-DTINYATTN_PORT=")), "")
            units[source, port] = flags
    return units


def same_flags(folder, meson_build, compiler, kind):
    configure(folder / f"only{kind}", kind, compiler)
    ours, meson = flags_of_units(folder / f"only{kind}"), flags_of_units(meson_build)
    compared = [{unit: {flag for flag in flags if flag.startswith(COMPARED)}
                 for unit, flags in units.items()} for units in (ours, meson)]
    if compared[0] != compared[1]:
        return f"{compared[0]}\ninstead of\n{compared[1]}"
    levels = {unit: [flag for flag in flags if flag.startswith("-O")][-1:]
              for unit, flags in ours.items()}
    slow = {unit: level for unit, level in levels.items() if not set(level) & set(OPTIMIZED)}
    return f"not optimized: {slow}" if slow else ""


def same_ports(folder, meson_build, ports, compiler):
    """Which is chosen, which can be asked for, and their bits."""
    build = folder / "built"
    configure(build, "", compiler)
    call("cmake", "--build", build)
    meson_program = meson_build / "tests" / "compiled" / "attention"
    call("ninja", "-C", meson_build, "tests/compiled/attention")
    ours, meson = ([call(program, TINYATTN_PORT=port) for port in ("", *ports)]
                   for program in (build / "program", meson_program))
    return "" if ours == meson else f"{ours}\ninstead of\n{meson}"


def main(build, *ports, compiler):
    with tempfile.TemporaryDirectory() as scratch:
        folder, meson_build = pathlib.Path(scratch), pathlib.Path(build)
        flags = functools.partial(same_flags, folder, meson_build, compiler)
        runs = functools.partial(same_ports, folder, meson_build, ports, compiler)
        tap.report([
            ("the same ports are chosen", runs),
            ("the same flags without a build type", functools.partial(flags, "")),
            ("the same flags as a release", functools.partial(flags, "Release")),
            ("the same flags to debug", functools.partial(flags, "Debug")),
        ])


separator = sys.argv.index("--")
main(*sys.argv[1:separator], compiler=sys.argv[separator + 1])
