# SPDX-License-Identifier: MIT
"""What must compile without a warning: each header alone, each block of C++ in the README, a layer with each flag of firmware.

    compiles.py HEADER_FOLDER... -- COMPILER ARGUMENT...
"""
import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap

LAYER = '#include "footprint/layer.cpp"\n'
FLAGS = ["-ffreestanding", "-fno-exceptions", "-fno-rtti", "-fshort-enums", "-fno-builtin", "-funsigned-char",
         "-fmerge-all-constants", "-fsingle-precision-constant", "-flto", "-fwrapv", "-ftrapv", "-fno-common", "-fno-strict-aliasing",
         "-fstack-protector-strong", "-finstrument-functions", "-fno-jump-tables", "-fshort-wchar", "-fpic"]
FLAGS_OF_ARM = ["-mslow-flash-data", "-mpure-code", "-mlong-calls", "-ffixed-r9"]


def compiles(command, program):
    """A port's header may say that it needs other flags."""
    done = subprocess.run([*command, "-x", "c++", "-"], input=program, capture_output=True, encoding="utf-8", check=False)
    unsuited = re.search(r'#?error "?(the port .* needs .*)"', done.stderr)
    if unsuited:
        return tap.Skip(unsuited[1])
    return done.stderr[:2000] or ("" if done.returncode == 0 else f"exit status {done.returncode}")


def headers_alone(folders):
    """Twice, since an include guard may be missing."""
    headers = sorted(path.relative_to(folder) for folder in folders for path in pathlib.Path(folder).rglob("*.hpp"))
    return [(str(header), ["-fsyntax-only"], f"#include <{header}>\n" * 2) for header in headers]


def readme():
    blocks = re.findall(r"^```cpp\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [(f"block {number} of the README", ["-fsyntax-only"], block) for number, block in enumerate(blocks, 1)]


def firmware_flags(compiler):
    """Those that the compiler has, on its target."""
    target = subprocess.run([*compiler, "-dumpmachine"], capture_output=True, encoding="utf-8", check=True).stdout
    listed = FLAGS + (FLAGS_OF_ARM if target.startswith("arm") else [])
    to_object = ["-DTINYATTN_FOOTPRINT_LAYER=T1", f"-I{ROOT / 'tests'}", "-Os", "-c", "-o", "/dev/null"]
    return [(flag, [flag, *to_object], LAYER) for flag in listed if not compiles([*compiler, "-Werror", flag, "-fsyntax-only"], "")]


separator = sys.argv.index("--")
folders = sys.argv[1:separator]
compiler = [*sys.argv[separator + 1:], *(f"-I{folder}" for folder in folders)]
programs = headers_alone(folders) + readme() + firmware_flags(compiler)
tap.report([(name, functools.partial(compiles, [*compiler, *arguments], program)) for name, arguments, program in programs])
