# SPDX-License-Identifier: MIT
"""tinyattn-single.hpp: one file, the same each time, that compiles with -std=c++20 and nothing else. Its bits are rows of the CRC table
(tests/one_answer).

    single.py COMPILER
"""
import sys

import packages
from packages import CONSUMER, building

FIRMWARE = building.board("mps3-an547")


def header(folder, name="made"):
    return packages.made("single", folder / name) / "tinyattn-single.hpp"


@packages.in_a_folder
def is_the_same_each_time(folder):
    return "" if header(folder, "once").read_bytes() == header(folder, "twice").read_bytes() else "two makes differ"


@packages.in_a_folder
def says_its_version(folder):
    said = header(folder).read_text(encoding="utf-8")[:1000]
    return "" if f"tinyattn {packages.tree.version()} in one file" in said else said


@packages.in_a_folder
def compiles(folder, compiler, *flags):
    if lacks := packages.needs(compiler):
        return lacks
    include = f"-I{header(folder).parent}"
    program = (CONSUMER / "main.cpp").read_text(encoding="utf-8")
    for name in ("tinyattn/tinyattn.hpp", "tinyattn/compiled.hpp"):
        program = program.replace(f"<{name}>", '"tinyattn-single.hpp"')
    source = folder / "main.cpp"
    source.write_text(program, encoding="utf-8")
    building.call([compiler, *flags, "-std=c++20", *building.WARNINGS, "-O1", "-DTINYATTN_COMPILED", include, "-c", source, "-o", folder / "main.o"])
    return ""


@packages.in_a_folder
def pasted(folder):
    """Into a program, as people do in a compiler explorer; it has a `compiled` of its own."""
    source = folder / "pasted.cpp"
    source.write_text(header(folder).read_text(encoding="utf-8").replace("#pragma once", "") + "static_assert(tinyattn::exp(0.0f) == 1);\n"
                      "int compiled;\nusing namespace tinyattn;\nint* const mine = &compiled;\n",
                      encoding="utf-8")
    building.call([sys.argv[1], "-std=c++20", *building.WARNINGS, "-fsyntax-only", source])
    return ""


@packages.in_a_folder
def refuses(folder, sentence, *flags):
    status, said = building.attempt([sys.argv[1], "-std=c++20", *flags, "-fsyntax-only", "-x", "c++", header(folder)])
    return "" if status != 0 and sentence in said else f"not said: {sentence}\n{said[:800]}"


packages.tap.report([
    ("it is the same each time", is_the_same_each_time),
    ("it says its version", says_its_version),
    ("g++ compiles it", compiles, "g++"),
    ("clang++ compiles it", compiles, "clang++"),
    ("arm-none-eabi-g++ compiles it", compiles, *FIRMWARE.cpp),
    ("it can be pasted", pasted),
    ("an unknown port is refused", refuses, "no port of the name", "-DTINYATTN_PORT=unknown"),
    ("an older C++ is refused", refuses, "tinyattn needs C++20", "-std=c++17")])
