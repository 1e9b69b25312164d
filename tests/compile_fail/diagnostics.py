# SPDX-License-Identifier: MIT
"""Compiles programs that must not compile, and looks for the diagnostic that README.md promises in
the first error.

    diagnostics.py [NAME...] -- COMPILER ARGUMENT...
"""
import pathlib
import re
import sys
import tempfile

from tests.support import tap
from tests.support.processes import attempt, call

HERE = pathlib.Path(__file__).resolve().parent
# Comments, then a declaration that is not indented; the name of the function or object
PROGRAM = re.compile(r"^((?://.*\n)*)(\w.*\n(?:[ }].*\n)*)", re.MULTILINE)
NAME = re.compile(r"(?:\w+ (\w+)\(|.*\b(\w+)(?: = [^{]*)?;$)", re.DOTALL)
EXPECT = re.compile(r"// expect(?: in (\d+) lines)?: (.+)")
INCLUDED_FROM = re.compile(r"In file included from|  +from")
ARGUMENTS = re.compile(r"// arguments: (.+)")


def programs_in(text, start):
    """Yields the name, the expectation, the arguments and the text of each program of a file."""
    expected = None
    for comments, program in PROGRAM.findall(text, start):
        expected = EXPECT.search(comments) or expected
        arguments = ARGUMENTS.search(comments)
        yield (next(filter(None, NAME.match(program).groups())), expected,
               arguments[1].split() if arguments else [], program)


def precompile(compiler, declarations, header):
    """Compiles what all programs of a file begin with, to a header that their compilers find."""
    header.write_text(declarations, encoding="utf-8")
    call([*compiler, "-x", "c++-header", header, "-o", f"{header}.gch"])


def problem(expected, arguments, program, compiler, header):
    # GCC would report each local of a template that hides a global after the precompiled header.
    declarations = ["-Wno-shadow", "-include", header]
    if arguments:  # with which the precompiled header was not compiled
        program, declarations = header.read_text(encoding="utf-8") + program, []
    command = [*compiler, *arguments, "-fsyntax-only", *declarations, "-x", "c++", "-"]
    status, output = attempt(command, text=program)
    lines = [line for line in output.splitlines() if not INCLUDED_FROM.match(line)]
    if status == 0 or len(lines) > int(expected[1] or 20):
        return f"it compiles, or prints too much: {len(lines)} lines"
    first_error = next((line for line in lines if "error:" in line), "")
    if expected[2] in first_error:
        return ""
    return "\n".join([f"expected: {expected[2]}", *lines[:10]])


def checks(names, compiler, folder):
    """Yields the check of each program with one of the names, or of all."""
    for file in sorted(HERE.glob("*.cpp")):
        text = file.read_text(encoding="utf-8")
        start = text.index("// expect")
        programs = [program for program in programs_in(text, start) if not names or program[0] in names]
        header = pathlib.Path(folder, file.with_suffix(".hpp").name)
        if programs:
            precompile(compiler, text[:start], header)
        yield from ((name, problem, *program, compiler, header) for name, *program in programs)


separator = sys.argv.index("--")
with tempfile.TemporaryDirectory() as files:
    tap.report(list(checks(sys.argv[1:separator], [*sys.argv[separator + 1:], f"-I{HERE}"], files)))
