# SPDX-License-Identifier: MIT
"""The README's table of edges names tests that exist.

    `attention`, `softmax`: "scores of 1e10 and 1e-30", "another test"      tests of these names in both programs
    `conformance/operations`: "a test"                                      the program of another folder
"""
import functools
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import tap  # noqa: E402


def missing(cell):
    problems = [] if '"' in cell else ["names no test"]
    for programs, names in re.findall(r'((?:`[\w/]+`(?:, )?)+): ("[^"]*"(?:, "[^"]*")*)', cell):
        for program in re.findall(r"[\w/]+", programs):
            folder = HERE.parent if "/" in program else HERE
            text = (folder / f"{program}.cpp").read_text(encoding="utf-8")
            problems += [f"{program} has no test {name}" for name in re.findall(r'"[^"]*"', names) if name not in text]
    return "\n".join(problems)


def main():
    table = (HERE / "README.md").read_text(encoding="utf-8").partition("## Edges")[2]
    rows = re.findall(r"^\| (.*?) \| (.*) \|$", table, re.MULTILINE)[2:]
    tap.report([(edge, functools.partial(missing, cell)) for edge, cell in rows])


main()
