# SPDX-License-Identifier: MIT
"""Tests tinyattn-single.hpp: making it again gives the same bytes, and it compiles with -std=c++20
alone. The CRC table (tests/night/one_answer) has rows that compute with it.

    single.py COMPILER
"""
import re
import sys

from tests.products.packages.packages import CONSUMER, VERSION, made, needs
from tests.support import tap
from tests.support.processes import ROOT, attempt, call

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror")
M55 = ("arm-none-eabi-g++", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard", "-ffreestanding",
       "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")
FILE = made("single") / "tinyattn-single.hpp"
HEADER = FILE.read_text(encoding="utf-8")
PROGRAM = re.sub(r"<tinyattn/\w+\.hpp>", f'"{FILE}"', (CONSUMER / "main.cpp").read_text(encoding="utf-8"))
# As pasted into Compiler Explorer, in a program with a `compiled` of its own.
PASTED = HEADER.replace("#pragma once", "") + """static_assert(tinyattn::exp(0.0f) == 1);
int compiled;
using namespace tinyattn;
int* mine = &compiled;
"""

TRAINED = f'#include "{FILE}"\n' + """
using namespace tinyattn;
void learn(Linear<2, 2>& layer, const Linear<2, 2>& gradient) { sgd_step(layer, gradient, {.learning_rate = .1f}); }
"""


@tap.in_folder
def is_the_same_each_time(folder):
    call([ROOT / "ports" / "packages" / "make", "single", "--output", folder])
    again = (folder / "single" / FILE.name).read_text(encoding="utf-8")
    is_right = again == HEADER and f"tinyattn {VERSION} in one file" in HEADER[:1000]
    return "" if is_right else f"two makes differ, or {HEADER[:1000]}"


def compiles(text, *compiler):
    if lacks := needs(compiler[0]):
        return lacks
    return call([*compiler, "-std=c++20", *WARNINGS, "-x", "c++", "-c", "-o", "/dev/null", "-"], text=text)


def has_diagnostic(diagnostic, *flags):
    status, output = attempt([sys.argv[1], "-std=c++20", *flags, "-fsyntax-only", "-x", "c++", FILE])
    is_right = status != 0 and diagnostic in output
    return "" if is_right else f"not printed: {diagnostic}\n{output[:800]}"


tap.report([
    ("it is the same each time, and says its version", is_the_same_each_time),
    *((f"{command[0]} compiles it", compiles, PROGRAM, *command, "-O1", "-DTINYATTN_COMPILED",
       "-DTINYATTN_LIFETIME", "-DTINYATTN_TRAINING")
      for command in (("g++",), ("clang++",), M55)),
    ("training needs one macro", compiles, TRAINED, sys.argv[1], "-DTINYATTN_TRAINING"),
    ("it can be pasted", compiles, PASTED, sys.argv[1]),
    ("an unknown port has a diagnostic", has_diagnostic, "no port of the name", "-DTINYATTN_PORT=unknown"),
    ("an older C++ has a diagnostic", has_diagnostic, "tinyattn needs C++20", "-std=c++17")])
