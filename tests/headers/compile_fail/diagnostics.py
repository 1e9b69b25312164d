# SPDX-License-Identifier: MIT
"""Compiles programs that must not compile, and looks for the diagnostic that README.md promises in
the first error of each.

    diagnostics.py [NAME...] -- COMPILER ARGUMENT...

The programs of a file are compiled together. A compiler reports a mistake that several programs
share only once, so programs without their diagnostic are compiled together again, and alone when
that yields no more diagnostics.
"""
import concurrent.futures
import dataclasses
import os
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
INCLUDED_FROM = re.compile(r"In file included from|  +from")
# What precedes an error: the place in which GCC and Clang found it.
CONTEXT = re.compile(r"\S+: (?:In |At |  )|\d+ errors? generated")
LINE = re.compile(r"<stdin>:(\d+):")


@dataclasses.dataclass
class Program:
    name: str
    diagnostic: str
    most_lines: int
    arguments: list
    text: str

    def problem(self, lines):
        """Returns what is wrong with the lines that a compiler printed for this program, or ""."""
        first_error = next((line for line in lines if "error:" in line), "")
        if not first_error:
            return "it compiles"
        if self.diagnostic not in first_error:
            return "\n".join([f"expected: {self.diagnostic}", *lines[:10]])
        return f"it prints too much: {len(lines)} lines" if len(lines) > self.most_lines else ""


def programs_in(text, start):
    expected = None
    for comments, program in PROGRAM.findall(text, start):
        expected = EXPECT.search(comments) or expected
        arguments = ARGUMENTS.search(comments)
        yield Program(next(filter(None, NAME.match(program).groups())), expected[2], int(expected[1] or 15),
                      arguments[1].split() if arguments else [], program)


def errors_in(lines):
    """Yields the lines of each error: its context, the error and its notes."""
    error = []
    for line in lines:
        has_error = any(": error: " in before for before in error)
        if has_error and (": error: " in line or CONTEXT.match(line)):
            yield error
            error = []
        error.append(line)
    yield error


def problems_together(declarations, programs, compiler):
    """Compiles programs as one unit. Returns what is wrong with each."""
    ends, text = [], declarations
    for program in programs:
        text += program.text
        ends.append(text.count("\n"))
    begin = declarations.count("\n")
    # GCC reports each local of a template that hides a global of the programs.
    command = [*compiler, *programs[0].arguments, "-Wno-shadow", "-fsyntax-only", "-x", "c++", "-"]
    status, output = attempt(command, text=text)
    lines = [line for line in output.splitlines() if not INCLUDED_FROM.match(line)]
    if len(programs) == 1:
        return [programs[0].problem(lines if status else [])]
    printed = [[] for _ in programs]
    for error in errors_in(lines):
        numbers = [int(number) for line in error for number in LINE.findall(line) if int(number) > begin]
        if numbers:
            printed[next(i for i, end in enumerate(ends) if max(numbers) <= end)] += error
    return [program.problem(its) for program, its in zip(programs, printed)]


def problems(declarations, programs, compiler):
    """Returns {name: what is wrong, or ""} for the programs of a file."""
    alone = [program for program in programs if program.arguments]
    left = [program for program in programs if not program.arguments]
    found, before = {}, len(left) + 1
    while 1 < len(left) < before:
        before = len(left)
        found |= zip((program.name for program in left), problems_together(declarations, left, compiler))
        left = [program for program in left if found[program.name]]
    for program in [*alone, *left]:
        found[program.name], = problems_together(declarations, [program], compiler)
    return found


def main(*words):
    separator = words.index("--")
    names, compiler = words[:separator], [*words[separator + 1:], f"-I{HERE}"]
    compiler += ["-ferror-limit=0", "-fno-caret-diagnostics"] if "clang" in compiler[0] else ["-fno-diagnostics-show-caret"]
    files = []
    for file in sorted(HERE.glob("*.cpp")):
        text = file.read_text(encoding="utf-8")
        start = text.index("// expect")
        files.append((text[:start], [program for program in programs_in(text, start) if not names or program.name in names]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda file: problems(*file, compiler), files))
    tap.report([point for of_file in found for point in of_file.items()])


if __name__ == "__main__":
    main(*sys.argv[1:])
