# SPDX-License-Identifier: MIT
"""Plants ports in a copy of the tree: one header and one rung of the ladder each, and nothing else. Whatever has a list of ports must
have them then. And what is wrong with a port must be found."""
import functools
import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import building  # noqa: E402
import tap  # noqa: E402

COPIED = ["include", "ports", "src", "tests", "meson.build", "meson_options.txt", ".clang-tidy", "README.md"]

# They stand before the rung of SSE2. Of the two, one asks for a feature that the compiled library does not look for.
RUNGS = """#elif defined(__SHA__) && defined(__SSE4_2__)
// on x86_64 with -msse4.2 -msha
#define TINYATTN_PORT unknown
#elif defined(__SSE4_2__)
// on x86_64 with -msse4.2
#define TINYATTN_PORT planted
#elif defined(__SSE2__)
"""
PORT = """// SPDX-License-Identifier: MIT
#pragma once
#include "tinyattn/port/sse2.hpp"
namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE {{
struct {0} : sse2 {{}};
static_assert(contract<{0}>);
}}
"""

# Also what clang-tidy looks at: a name that only a port may have, and one that a port may not have.
PLANTED = {
    "ports/simd/tinyattn/port/planted.hpp": PORT.format("planted"),
    "ports/simd/tinyattn/port/unknown.hpp": PORT.format("unknown"),
    "ports/simd/tinyattn/port/in_a_port.hpp": "struct UpperCase {};\n",
    "include/tinyattn/kernel/in_a_kernel.hpp": "struct lower_case {};\n",
    "unit.cpp": "".join(f'#include "tinyattn/{name}.hpp"\n' for name in ("port/planted", "port/in_a_port", "kernel/in_a_kernel")),
}
TIDY = ("clang-tidy-14 --quiet unit.cpp -- -std=c++20 -I$PWD/include -I$PWD/ports/simd 2>&1 |"
        " sed -n 's/.*error: \\([^[]*\\) \\[.*/\\1/p' | sort | xargs -d '\\n' echo")
CMAKE = ("cmake -B cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DTINYATTN=$PWD -DPROGRAM=../program.c tests/consumers/cmake_in_c"
         " && cat cmake/compile_commands.json")
CHOSEN = """set -o pipefail; ladder=ports/simd/tinyattn/port/native.hpp
python3 -B ports/simd/ladder.py x86_64 $ladder | while IFS=: read -r port flags; do
  echo "$port by$flags:"
  g++ -std=c++20 $flags -Iports/simd -E -dM $ladder | grep -x "#define TINYATTN_PORT $port" || exit 1
done"""
OBJECT = "cd build; ninja -t commands src/libtinyattn_{}.a.p/port.cpp.o | sed 's/$/ -fsyntax-only/' | bash -ex"
RUNG = "cd $(mktemp -d -p .); echo '{}\n#define TINYATTN_PORT avx9' >native.hpp; python3 -B ../ports/simd/ladder.py x86_64 native.hpp"
NOWHERE = "does not say where `avx9` is built"

# A command in the copy, the patterns that it must print, and its status.
CHECKS = {
    "flags choose it, and every other port": (CHOSEN, ["planted by -msse4.2:\n"], 0),
    "the conformance tests and the compiled library have it": (
        "meson introspect --tests build",
        ['"operations_planted"', '"kernels_planted"', '"generic", "unknown", "planted", "sse2", "scalar"'], 0),
    "the compiled library has it, as CMake builds it": (
        CMAKE, [r" -msse4\.2 -UTINYATTN_PORT -DTINYATTN_PORT=planted ", r"\(generic\)TINYATTN_EACH_PORT\(unknown\)"], 0),
    "the CRC table has it": (
        "cd tests/one_answer; python3 -B -c 'import cells; print(cells.other_ports(\"x86_64\"))'", ["'planted': .*-msse4.2"], 0),
    "the benchmark has it": ("cd tests/speed; python3 -B -c 'import timing; print(timing.PORT_FLAGS)'", ["'planted': .*-msse4.2"], 0),
    "names are those of ports in a port only": (
        TIDY, [r"^invalid case style for struct 'UpperCase' invalid case style for struct 'lower_case'$"], 0),
    "a feature that a processor is asked for": (OBJECT.format("planted"), ["-DTINYATTN_PORT=planted"], 0),
    "a feature that no processor is asked for": (
        OBJECT.format("unknown"), ["features.hpp lacks what a flag of this port asks for"], 1),
    "a rung without a place": (RUNG.format("#if 1"), [NOWHERE], 1),
    "a rung on a machine that nobody knows": (RUNG.format("// on x86-64"), [NOWHERE], 1),
    "a rung without a header": (RUNG.format("// anywhere"), ["there is no avx9.hpp"], 1),
}


def check(tree, command, patterns, status):
    if (tool := command.split()[0]) in ("cmake", "clang-tidy-14") and not shutil.which(tool):
        return tap.Skip(f"there is no {tool}")
    found, said = building.attempt(["bash", "-c", command], folder=tree, CXX="g++")
    return "" if found == status and all(re.search(pattern, said) for pattern in patterns) else f"{found} {said}"


with tempfile.TemporaryDirectory() as folder:
    copy = pathlib.Path(folder)
    building.call(["cp", "-r", *COPIED, copy])
    native = copy / "ports" / "simd" / "tinyattn" / "port" / "native.hpp"
    rungs = native.read_text(encoding="utf-8").replace("#elif defined(__SSE2__)\n", RUNGS)
    for name, text in {native: rungs, **PLANTED}.items():
        (copy / name).write_text(text, encoding="utf-8")
    if problem := check(copy, "meson setup -Dexamples=disabled build", [], 0):
        tap.report([("a tree with two more ports can be configured", lambda: problem)])
    tap.report([(name, functools.partial(check, copy, *row)) for name, row in CHECKS.items()])
