# SPDX-License-Identifier: MIT
"""Tests that each line of C++ in ports/pytorch/coming_from_pytorch.md compiles.

    from_pytorch.py COMPILER...
"""
import pathlib
import re
import sys

from tests.support import tap
from tests.support.processes import ROOT, attempt

PAGE = (ROOT / "ports" / "pytorch" / "coming_from_pytorch.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (.+?) \| (.+?) \|$", re.MULTILINE)
CODE = re.compile(r"^`([^`]+;)`")
PROGRAM = """\
#include <limits>
#include <span>
#include "tinyattn/tinyattn.hpp"
using namespace tinyattn;
{names}
{functions}
"""


def rows():
    """Returns {call of PyTorch: the line of C++, or an empty string if the page says that there is none}."""
    pairs = [row for row in ROW.findall(PAGE) if row[1] not in ("here", "---")]
    return {pytorch: (CODE.match(here) or [None, ""])[1] for pytorch, here in pairs}


def compiles(compiler):
    """Checks that all lines compile: in one program, each in a function of its own."""
    names = re.search(r"```cpp\n(.*?)```", PAGE, re.DOTALL)[1]
    lines = [line for line in rows().values() if line]
    functions = "\n".join(f"[[maybe_unused]] void line_{i}() {{\n#line {i} \"coming_from_pytorch\"\n  {line}\n}}"
                          for i, line in enumerate(lines, 1))
    quiet = ("-Wno-unused-variable", "-Wno-unused-but-set-variable")  # a line declares its result
    status, output = attempt([*compiler, *quiet, "-fsyntax-only", "-x", "c++", "-"],
                                    text=PROGRAM.format(names=names, functions=functions))
    if status == 0:
        return ""
    wrong = {int(number) for number in re.findall(r"coming_from_pytorch:(\d+):\d+: error", output)}
    return "\n".join([*(f"does not compile: {lines[number - 1]}" for number in sorted(wrong)), output[:1500]])


def says_what_there_is():
    """Checks that each row without a line of C++ says in words what to use instead."""
    silent = [pytorch for pytorch, line in rows().items() if not line and not re.search(
        rf"^\| {re.escape(pytorch)} \| (none|nothing|`export)", PAGE, re.MULTILINE)]
    return f"neither a line of C++ nor a word: {silent}" if silent or len(rows()) < 50 else ""


tap.report([("each line of C++ compiles", compiles, sys.argv[1:]),
            ("each row has a counterpart, or says that there is none", says_what_there_is)])
