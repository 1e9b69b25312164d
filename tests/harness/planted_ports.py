# SPDX-License-Identifier: MIT
"""Plants ports in a copy of the tree: one header and one rung of the ladder each, and nothing else.
Whatever has a list of ports must have them then. And what is wrong with a port must be found.

    planted_ports.py
"""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402

PORTS = pathlib.Path("ports") / "simd" / "tinyattn" / "port"
KERNELS = pathlib.Path("include") / "tinyattn" / "kernel"
COPIED = ["include", "ports", "src", "tests"]
COPIED_FILES = ["meson.build", "meson_options.txt", ".clang-tidy", "README.md"]

# Of the two, one asks for a feature that the compiled library does not look for.
RUNGS = """#elif defined(__SHA__) && defined(__SSE4_2__)
// on x86_64 with -msse4.2 -msha
#define TINYATTN_PORT unknown
#elif defined(__SSE4_2__)
// on x86_64 with -msse4.2
#define TINYATTN_PORT planted
"""
NEXT_RUNG = "#elif defined(__SSE2__)\n"
PORT = """// SPDX-License-Identifier: MIT
#pragma once
#include "tinyattn/port/sse2.hpp"
namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE {{
struct {0} : sse2 {{}};
static_assert(contract<{0}>);
}}
"""
UNIT = """#include "tinyattn/port/planted.hpp"
#include "tinyattn/port/in_a_port.hpp"
#include "tinyattn/kernel/in_a_kernel.hpp"
"""

CRC_TABLE = 'import cells; print(cells.other_ports("x86_64"))'
BENCHMARK = "import timing; print(timing.PORT_FLAGS)"


def call(folder, *command):
    """Status and what was said."""
    done = subprocess.run([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                          env={**os.environ, "CXX": "g++", "LC_ALL": "C"}, check=False)
    return done.returncode, done.stdout


def plant(tree):
    for name in COPIED:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for name in COPIED_FILES:
        shutil.copy(ROOT / name, tree)
    ladder = tree / PORTS / "native.hpp"
    text = ladder.read_text(encoding="utf-8").replace(NEXT_RUNG, RUNGS + NEXT_RUNG)
    ladder.write_text(text, encoding="utf-8")
    for name in ("planted", "unknown"):
        (tree / PORTS / f"{name}.hpp").write_text(PORT.format(name), encoding="utf-8")


# --- What has a list of ports ---


def chosen_by_flags(tree):
    """Each by its own, the ports of the project too."""
    header = PORTS / "native.hpp"
    _, listed = call(tree, sys.executable, "-B", "ports/simd/ladder.py", "x86_64", header)
    problems = []
    for port, _, flags in (line.partition(":") for line in listed.splitlines()):
        command = ["g++", "-std=c++20", *flags.split(), "-Iports/simd", "-E", "-dM", header]
        _, said = call(tree, *command)
        if f"#define TINYATTN_PORT {port}\n" not in said:
            problems.append(f"{port} is not what{flags} chooses")
    return "\n".join(problems) if "planted: -msse4.2\n" in listed else listed


def built_by_meson(tree):
    """As conformance tests, and in the compiled library between better ports and worse ones."""
    listed = (tree / "build" / "meson-info" / "intro-tests.json").read_text(encoding="utf-8")
    commands = {test["name"]: " ".join(test["cmd"]) for test in json.loads(listed)}
    missing = [name for name in ("operations_planted", "kernels_planted") if name not in commands]
    if "generic unknown planted sse2 scalar" not in commands["ports"]:
        missing.append(f"the compiled library: {commands['ports']}")
    return "\n".join(missing)


def built_by_cmake(tree):
    if not shutil.which("cmake"):
        return tap.Skip("there is no cmake")
    project = tree / "tests" / "consumers" / "cmake_in_c"
    status, said = call(tree, "cmake", "-B", "cmake", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                        f"-DTINYATTN={tree}", "-DPROGRAM=../program.c", project)
    if status != 0:
        return said
    listed = (tree / "cmake" / "compile_commands.json").read_text(encoding="utf-8")
    commands = [entry["command"] for entry in json.loads(listed)]
    planted = [command for command in commands if "-DTINYATTN_PORT=planted " in command]
    found = len(planted) == 1 and " -msse4.2 " in planted[0]
    return "" if found and "(generic)TINYATTN_EACH_PORT(unknown)" in listed else listed


def in_a_script(tree, folder, listed):
    _, said = call(tree / "tests" / folder, sys.executable, "-B", "-c", listed)
    return "" if "'planted': " in said and "-msse4.2" in said else said


# --- What is wrong with a port ---


def compile_port(tree, name):
    """What the compiler says of the object that the compiled library would hold."""
    build = tree / "build"
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    command = next(one["command"] for one in commands if f"tinyattn_{name}." in one["output"])
    return call(build, "sh", "-c", f"{command} -fsyntax-only")


def feature_that_is_listed(tree):
    status, said = compile_port(tree, "planted")
    return said if status != 0 else ""


def feature_that_is_not_listed(tree):
    status, said = compile_port(tree, "unknown")
    found = "features.hpp lacks what a flag of this port asks for"
    return "" if status != 0 and found in said else f"{status} {said}"


def names(tree):
    """A port is lower_case, and only a port is."""
    if not shutil.which("clang-tidy-14"):
        return tap.Skip("there is no clang-tidy-14")
    (tree / PORTS / "in_a_port.hpp").write_text("struct UpperCase {};\n", encoding="utf-8")
    (tree / KERNELS / "in_a_kernel.hpp").write_text("struct lower_case {};\n", encoding="utf-8")
    (tree / "tests" / "unit.cpp").write_text(UNIT, encoding="utf-8")
    flags = ["-std=c++20", f"-I{tree}/include", f"-I{tree}/ports/simd"]
    _, said = call(tree, "clang-tidy-14", "--quiet", tree / "tests" / "unit.cpp", "--", *flags)
    found = sorted(line.partition("error: ")[2] for line in said.splitlines() if "error: " in line)
    expected = [f"invalid case style for struct '{name}'" for name in ("UpperCase", "lower_case")]
    as_expected = [line.partition(" [")[0] for line in found] == expected
    return "" if as_expected else said


def rung(tree, comment, sentence):
    """What the list says of a rung that it cannot read."""
    with tempfile.TemporaryDirectory(dir=tree) as folder:
        ladder = pathlib.Path(folder) / "native.hpp"
        ladder.write_text(f"{comment}\n#define TINYATTN_PORT avx9\n", encoding="utf-8")
        status, said = call(tree, sys.executable, "-B", "ports/simd/ladder.py", "x86_64", ladder)
    return "" if status != 0 and sentence in said else f"{status} {said}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "tree"
        plant(tree)
        status, said = call(tree, "meson", "setup", "-Dexamples=disabled", "build")
        if status != 0:
            tap.report([("a tree with two more ports can be configured", lambda: said)])
        nowhere = "does not say where `avx9` is built"
        checks = [
            ("flags choose it, and every other port", chosen_by_flags),
            ("the compiled library and the conformance tests have it", built_by_meson),
            ("the compiled library has it, as CMake builds it", built_by_cmake),
            ("the CRC table has it",
             functools.partial(in_a_script, folder="one_answer", listed=CRC_TABLE)),
            ("the benchmark has it",
             functools.partial(in_a_script, folder="speed", listed=BENCHMARK)),
            ("names are those of ports in a port only", names),
            ("a feature that a processor is asked for", feature_that_is_listed),
            ("a feature that no processor is asked for", feature_that_is_not_listed),
            ("a rung without a place", functools.partial(rung, comment="#if 1", sentence=nowhere)),
            ("a rung on a machine that nobody knows",
             functools.partial(rung, comment="// on x86-64", sentence=nowhere)),
            ("a rung without a header",
             functools.partial(rung, comment="// anywhere", sentence="there is no avx9.hpp")),
        ]
        tap.report([(name, functools.partial(check, tree)) for name, check in checks])


main()
