# SPDX-License-Identifier: MIT
"""Compiles programs that must not compile, and looks for the diagnostic that README.md promises in
the first error.

    diagnostics.py [NAME...] -- COMPILER ARGUMENT...
"""
import pathlib
import re
import sys

from tests.support import tap
from tests.support.processes import attempt

HERE = pathlib.Path(__file__).resolve().parent
# Comments, then a declaration that is not indented; the name of the function or object
PROGRAM = re.compile(r"^((?://.*\n)*)(\w.*\n(?:[ }].*\n)*)", re.MULTILINE)
NAME = re.compile(r"(?:\w+ (\w+)\(|.*\b(\w+)(?: = [^{]*)?;$)", re.DOTALL)
EXPECT = re.compile(r"// expect(?: in (\d+) lines)?: (.+)")
ARGUMENTS = re.compile(r"// arguments: (.+)")


def programs_in(file):
    """Yields the name, the expectation, the arguments and the text of each program in a file."""
    text = file.read_text(encoding="utf-8")
    start, expected = text.index("// expect"), None
    for comments, program in PROGRAM.findall(text, start):
        expected = EXPECT.search(comments) or expected
        arguments = ARGUMENTS.search(comments)
        yield (next(filter(None, NAME.match(program).groups())), expected,
               arguments[1].split() if arguments else [], text[:start] + program)


def problem(expected, arguments, program, compiler):
    command = [*compiler, f"-I{HERE}", *arguments, "-fsyntax-only", "-x", "c++", "-"]
    status, output = attempt(command, text=program)
    lines = output.splitlines()
    if status == 0 or len(lines) > int(expected[1] or 20):
        return f"it compiles, or prints too much: {len(lines)} lines"
    first_error = next((line for line in lines if "error:" in line), "")
    if expected[2] in first_error:
        return ""
    return "\n".join([f"expected: {expected[2]}", *lines[:10]])


separator = sys.argv.index("--")
names, compiler = sys.argv[1:separator], sys.argv[separator + 1:]
tap.report([(name, problem, *program, compiler) for file in sorted(HERE.glob("*.cpp"))
            for name, *program in programs_in(file) if not names or name in names])
