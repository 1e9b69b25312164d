# SPDX-License-Identifier: MIT
"""Compiles programs that must not compile, and looks for the sentence that says why in the first error.

    refusals.py FOLDER [PROGRAM...] -- COMPILER ARGUMENT...

FOLDER/README.md says how they are written.
"""
import pathlib
import re
import sys

import building
import tap

MOST_LINES = 20


def programs_in(file):
    """{name: text}; the compiler's messages name the file and its lines."""
    prelude, *parts = re.split(r"^// --- (?=\w+:)", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    made, line = {}, 1 + prelude.count("\n")
    for part in parts:
        made[part.partition(":")[0]] = f'#line 1 "{file}"\n{prelude}#line {line} "{file}"\n// --- {part}'
        line += part.count("\n")
    return made


def refuse(program, compiler):
    stated = {"arguments": "", "lines": MOST_LINES} | dict(re.findall(r"^// (expect|arguments|lines): (.+)$", program, re.MULTILINE))
    status, said = building.attempt([*compiler, *stated["arguments"].split(), "-fsyntax-only", "-x", "c++", "-"], text=program)
    lines = said.splitlines()
    if status == 0 or len(lines) >= int(stated["lines"]):
        return f"it compiles, or says too much: {len(lines)} lines"
    errors = [line for line in lines if re.search(r"\berror:", line)]
    return "" if errors and stated["expect"] in errors[0] else "\n".join([f"expected: {stated['expect']}", *(errors or lines)[:10]])


separator = sys.argv.index("--")
named, compiler = sys.argv[2:separator], sys.argv[separator + 1:]
programs = {name: text for file in sorted(pathlib.Path(sys.argv[1]).glob("*.cpp")) for name, text in programs_in(file).items()}
tap.report([(name, refuse, text, compiler) for name, text in programs.items() if not named or name in named])
