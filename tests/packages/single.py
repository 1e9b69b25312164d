# SPDX-License-Identifier: MIT
"""Tests tinyattn-single.hpp: making it again gives the same bytes, and it compiles with -std=c++20 alone. The CRC table
(tests/one_answer) has rows that compute with it.

    single.py COMPILER
"""
import sys

from tests.packages import packages
from tests.packages.packages import CONSUMER, WARNINGS, in_a_folder
from tests.support import tap
from tests.support.processes import attempt, call

M55 = ("arm-none-eabi-g++", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard", "-ffreestanding", "-fno-exceptions",
       "-fno-rtti",
       "-fno-threadsafe-statics")
OWN_NAMES = """static_assert(tinyattn::exp(0.0f) == 1);
int compiled;
using namespace tinyattn;
int* const mine = &compiled;
"""


def header(folder, name="made"):
    return packages.make("single", folder / name) / "tinyattn-single.hpp"


@in_a_folder
def is_the_same_each_time(folder):
    text = header(folder, "once").read_text(encoding="utf-8")
    problems = [] if header(folder, "twice").read_text(encoding="utf-8") == text else ["two makes differ"]
    return "\n".join([*problems, *([] if f"tinyattn {packages.VERSION} in one file" in text[:1000] else [text[:1000]])])


@in_a_folder
def compiles(folder, compiler, *flags):
    if lacks := packages.needs(compiler):
        return lacks
    include = f"-I{header(folder).parent}"
    program = (CONSUMER / "main.cpp").read_text(encoding="utf-8")
    for name in ("tinyattn/tinyattn.hpp", "tinyattn/compiled.hpp"):
        program = program.replace(f"<{name}>", '"tinyattn-single.hpp"')
    source = folder / "main.cpp"
    source.write_text(program, encoding="utf-8")
    call([compiler, *flags, "-std=c++20", *WARNINGS, "-O1", "-DTINYATTN_COMPILED", include, "-c", source, "-o",
          folder / "main.o"])
    return ""


@in_a_folder
def can_be_pasted(folder):
    """Checks that the header can be pasted into a program, as in Compiler Explorer, that has a `compiled` of its
    own."""
    text = header(folder).read_text(encoding="utf-8").replace("#pragma once", "")
    call([sys.argv[1], "-std=c++20", *WARNINGS, "-fsyntax-only", "-x", "c++", "-"], text=text + OWN_NAMES)
    return ""


@in_a_folder
def has_diagnostic(folder, diagnostic, *flags):
    status, output = attempt([sys.argv[1], "-std=c++20", *flags, "-fsyntax-only", "-x", "c++", header(folder)])
    return "" if status != 0 and diagnostic in output else f"not printed: {diagnostic}\n{output[:800]}"


tap.report([
    ("it is the same each time, and says its version", is_the_same_each_time),
    *((f"{command[0]} compiles it", compiles, *command) for command in (("g++",), ("clang++",), M55)),
    ("it can be pasted", can_be_pasted),
    ("an unknown port has a diagnostic", has_diagnostic, "no port of the name", "-DTINYATTN_PORT=unknown"),
    ("an older C++ has a diagnostic", has_diagnostic, "tinyattn needs C++20", "-std=c++17")])
