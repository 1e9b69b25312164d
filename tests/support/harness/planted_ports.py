# SPDX-License-Identifier: MIT
"""Plants two ports in a copy of the tree: only a header and an entry of the priority list for each. Tests that all
lists of ports then have them, and that a port's faults are diagnosed."""
import pathlib
import re
import shutil
import tempfile

from tests.support import tap
from tests.support.processes import attempt, call

COPIED = ["include", "ports", "src", "tests", "meson.build", "meson_options.txt", "README.md"]

# Entries that are put before sse2's. One of the two needs a feature of the processor that the compiled library does
# not detect.
ENTRIES = """#elif defined(__SHA__) && defined(__SSE4_2__)
// on x86_64 with -msse4.2 -msha
#define TINYATTN_PORT unknown
#elif defined(__SSE4_2__)
// on x86_64 with -msse4.2
#define TINYATTN_PORT planted
#elif defined(__SSE2__)
"""
HEADER = """#pragma once
#include "tinyattn/port/sse2.hpp"
namespace tinyattn::port::inline TINYATTN_FLAGS_NAMESPACE {{
struct {0} : sse2 {{}};
}}
"""
LIST = "python3 -B ports/simd/priorities.py x86_64"
CHOSEN = LIST + """ ports/simd/tinyattn/port/native.hpp | while IFS=: read -r port flags; do
  echo "$port by$flags:"
  g++ -std=c++20 $flags -Iports/simd -E -dM ports/simd/tinyattn/port/native.hpp |
    grep -x "#define TINYATTN_PORT $port" || exit 1
done"""
CMAKE = ("cmake -B cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DWAY= -DTREE=$PWD -DMAIN=main.c"
         " tests/products/packages/consumer && cat cmake/compile_commands.json")
OBJECT = ("ninja -C build -t commands src/libtinyattn_{}.a.p/port.cpp.o |"
          " (cd build; sed 's/$/ -fsyntax-only/' | bash -ex)")
ENTRY = "d=$(mktemp -d -p .); printf '{}\n#define TINYATTN_PORT avx9' >$d/native.hpp; " + LIST + " $d/native.hpp"
NOWHERE = "does not say where `avx9` is built"

# {name of a check: (a command in the copy, its exit status, a pattern in its output)}
CHECKS = {
    "flags choose it, and every other port": (CHOSEN, 0, "planted by -msse4.2:\n"),
    "tests of its operations and of drawn calls have it": ("meson introspect --tests build", 0,
                                                           '"operations_planted"(.|\n)*"training_planted"'),
    "the compiled library has it": ("meson introspect --tests build", 0, '"unknown", "planted", "sse2", "scalar"'),
    "the compiled library of CMake has it": (CMAKE, 0, r" -msse4\.2 -UTINYATTN_PORT -DTINYATTN_PORT=planted "),
    "the CRC table has it": ("meson introspect --tests build", 0, '"x86-64/planted -O2 -ffp-contract=fast"'),
    "the benchmark has it": ("meson introspect --targets build", 0, '"ours-planted-O2-main"'),
    "a feature that a processor is asked for": (OBJECT.format("planted"), 0, "-DTINYATTN_PORT=planted"),
    "a feature that no processor is asked for": (OBJECT.format("unknown"), 1,
                                                 "features.hpp lacks what a flag of this port asks for"),
    "an entry without a place": (ENTRY.format("#if 1"), 1, NOWHERE),
    "an entry on a machine that nobody knows": (ENTRY.format("// on x86-64"), 1, NOWHERE),
    "an entry without a header": (ENTRY.format("// anywhere"), 1, "there is no avx9.hpp"),
}


def check(tree, command, status, pattern):
    if command == CMAKE and not shutil.which("cmake"):
        return tap.Skip("there is no cmake")
    found, output = attempt(["bash", "-o", "pipefail", "-c", command], folder=tree, CXX="g++")
    return "" if found == status and re.search(pattern, output) else f"{found} {output}"


with tempfile.TemporaryDirectory() as folder:
    call(["cp", "-r", *COPIED, folder])
    ports = pathlib.Path(folder, "ports", "simd", "tinyattn", "port")
    native = (ports / "native.hpp").read_text(encoding="utf-8").replace("#elif defined(__SSE2__)\n", ENTRIES)
    for name, text in {"native": native, **{port: HEADER.format(port) for port in ("planted", "unknown")}}.items():
        (ports / f"{name}.hpp").write_text(text, encoding="utf-8")
    status, output = attempt(["meson", "setup", "-Dexamples=disabled", "-Dbench=['ours', '.']", "build"], folder=folder,
                             CXX="g++")
    if status != 0:
        tap.report([("a tree with two more ports can be configured", output)])
    tap.report([(name, check, folder, *row) for name, row in CHECKS.items()])
