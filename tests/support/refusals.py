# SPDX-License-Identifier: MIT
"""Compiles programs that must not compile, and looks for the sentence that says why in the first error.

    refusals.py FOLDER [PROGRAM...] -- COMPILER ARGUMENT...

FOLDER/README.md says how they are written.
"""
import functools
import pathlib
import re
import subprocess
import sys

import tap

MOST_LINES = 20


def programs_in(file):
    """Name and text of each; the compiler's messages name the file and its lines."""
    prelude, *parts = re.split(r"^// --- (?=\w+:)", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    first_line = 1 + prelude.count("\n")
    for part in parts:
        yield part.partition(":")[0], f'#line 1 "{file}"\n{prelude}#line {first_line} "{file}"\n// --- {part}'
        first_line += part.count("\n")


def stated(program, what, default=""):
    found = re.search(rf"^// {what}: (.+)$", program, re.MULTILINE)
    return found.group(1).strip() if found else default


def refuse(program, compiler):
    sentence = stated(program, "expect")
    if not sentence:
        return "no line says what to expect"
    command = [*compiler, *stated(program, "arguments").split(), "-fsyntax-only", "-x", "c++", "-"]
    done = subprocess.run(command, input=program, capture_output=True, encoding="utf-8", check=False)
    if done.returncode == 0:
        return "it compiles"
    said = done.stderr.splitlines()
    if len(said) >= int(stated(program, "lines", MOST_LINES)):
        return f"{len(said)} lines"
    errors = [line for line in said if re.search(r"\berror:", line)]
    return "" if errors and sentence in errors[0] else "\n".join([f"expected: {sentence}", *(errors or said)[:10]])


separator = sys.argv.index("--")
named = sys.argv[2:separator]
programs = [program for file in sorted(pathlib.Path(sys.argv[1]).glob("*.cpp")) for program in programs_in(file)]
tap.report([(name, functools.partial(refuse, text, sys.argv[separator + 1:])) for name, text in programs if not named or name in named])
