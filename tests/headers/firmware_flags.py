# SPDX-License-Identifier: MIT
"""Compiles the layer of the footprint with flags that firmware is built with, each alone, without a warning.

    firmware_flags.py -- COMPILER ARGUMENT...
"""
import functools
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap

LAYER = [str(ROOT / "tests" / "footprint" / "layer.cpp"), "-DTINYATTN_FOOTPRINT_LAYER=T1", f"-I{ROOT / 'tests'}"]

FLAGS = ["-ffreestanding", "-fno-exceptions", "-fno-rtti", "-fshort-enums", "-fno-builtin", "-funsigned-char",
         "-fmerge-all-constants", "-fsingle-precision-constant", "-flto", "-fwrapv", "-ftrapv", "-fno-common", "-fno-strict-aliasing",
         "-fstack-protector-strong", "-finstrument-functions", "-fno-jump-tables", "-fshort-wchar", "-fpic"]
OF_ARM = ["-mslow-flash-data", "-mpure-code", "-mlong-calls", "-ffixed-r9"]


def flags_of(compiler):
    """Those that the compiler has, on its target."""
    target = subprocess.run([*compiler, "-dumpmachine"], capture_output=True, encoding="utf-8", check=True).stdout
    listed = FLAGS + (OF_ARM if target.startswith("arm") else [])
    return [flag for flag in listed if subprocess.run([*compiler, "-Werror", flag, "-fsyntax-only", "-x", "c++", "/dev/null"],
                                                      capture_output=True, check=False).returncode == 0]


def compiles(compiler, flag):
    command = [*compiler, "-Os", flag, *LAYER, "-c", "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    return "" if done.returncode == 0 else done.stderr[:2000]


compiler = sys.argv[sys.argv.index("--") + 1:]
tap.report([(flag, functools.partial(compiles, compiler, flag)) for flag in flags_of(compiler)])
