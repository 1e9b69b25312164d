# SPDX-License-Identifier: MIT
"""Compiles programs that must not compile, and looks for the sentence that says why in the first three errors.

    refusals.py FOLDER [PROGRAM...] -- COMPILER ARGUMENT...

A program's first lines say what it expects: `// expect: d_out must be divisible by num_heads`, and, where it needs them, more
arguments for the compiler: `// arguments: -ffast-math`. `// lines: 20` asks for more: the sentence in the first error, and
fewer lines in all.
"""
import functools
import pathlib
import re
import subprocess
import sys

import tap

FIRST_ERRORS = 3


def stated(text, what):
    found = re.search(rf"^// {what}: (.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else ""


def refuse(program, compiler):
    text = program.read_text(encoding="utf-8")
    sentence = stated(text, "expect")
    if not sentence:
        return "no line says what to expect"
    command = [*compiler, *stated(text, "arguments").split(), "-fsyntax-only", str(program)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode == 0:
        return "it compiles"
    errors = [line for line in done.stderr.splitlines() if re.search(r"\berror:", line)][:FIRST_ERRORS]
    most = int(stated(text, "lines") or 0)
    lines = len(done.stderr.splitlines())
    if most and lines >= most:
        return f"{lines} lines"
    if any(sentence in error for error in (errors[:1] if most else errors)):
        return ""
    return "\n".join([f"expected: {sentence}", *(errors or done.stderr.splitlines()[:10])])


separator = sys.argv.index("--")
named = sys.argv[2:separator]
programs = sorted(program for program in pathlib.Path(sys.argv[1]).glob("*.cpp") if not named or program.stem in named)
tap.report([(program.stem, functools.partial(refuse, program, sys.argv[separator + 1:])) for program in programs])
