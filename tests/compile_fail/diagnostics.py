# SPDX-License-Identifier: MIT
"""Compiles programs that must not compile, and looks for the diagnostic that README.md promises in the first error.

    diagnostics.py [NAME...] -- COMPILER ARGUMENT...
"""
import pathlib
import re
import subprocess
import sys

from tests.support import tap

HERE = pathlib.Path(__file__).resolve().parent
MOST_LINES = 20
PROGRAM = re.compile(r"((?://.*\n)*)(\w.*\n(?:[ }].*\n)*)")  # comments, then a declaration that is not indented
NAME = re.compile(r"\w+ (\w+)\(|.*\b([A-Za-z_]\w*)(?: = [^{]*)?;$", re.DOTALL)  # the name of the function or object
KEY = re.compile(r"^// (expect|arguments|lines): (.+)$", re.MULTILINE)


def programs_in(file):
    """Returns {name: (keys, text)} of the programs in a file. #line directives make messages point to the file."""
    text = file.read_text(encoding="utf-8")
    start, programs, keys = text.index("// expect: "), {}, {}
    for program in PROGRAM.finditer(text, start):
        keys = {"expect": keys.get("expect"), "arguments": "", "lines": MOST_LINES, **dict(KEY.findall(program[1]))}
        name = next(filter(None, NAME.match(program[2]).groups()))
        line = 1 + text.count("\n", 0, program.start(2))
        programs[name] = keys, f'#line 1 "{file}"\n{text[:start]}#line {line} "{file}"\n{program[2]}'
    return programs


def problem(keys, program, compiler):
    command = [*compiler, *keys["arguments"].split(), "-fsyntax-only", "-x", "c++", "-"]
    done = subprocess.run(command, input=program, capture_output=True, encoding="utf-8", check=False)
    lines = done.stderr.splitlines()
    if done.returncode == 0 or len(lines) >= int(keys["lines"]):
        return f"it compiles, or prints too much: {len(lines)} lines"
    errors = [line for line in lines if re.search(r"\berror:", line)]
    if errors and keys["expect"] in errors[0]:
        return ""
    return "\n".join([f"expected: {keys['expect']}", *(errors or lines)[:10]])


separator = sys.argv.index("--")
names, compiler = sys.argv[1:separator], sys.argv[separator + 1:]
programs = {name: program for file in sorted(HERE.glob("*.cpp")) for name, program in programs_in(file).items()}
tap.report([(name, problem, *program, compiler) for name, program in programs.items() if not names or name in names])
