# SPDX-License-Identifier: MIT
"""Implements tests/diff: finds the first workload, output and element in which the bits of two targets differ."""
import json
import os
import subprocess
import sys

from tests.one_answer import answers
from tests.support import targets

DEFAULTS = {"-O": "-O2", "-ffp-contract=": "-ffp-contract=fast"}


def cells():
    """Returns {name: build} of all programs of the table, in the builds whose compilers are installed."""
    found = {}
    for build in targets.TABLE_BUILDS:
        listed = build.folder / "meson-info" / "intro-tests.json"
        if not listed.is_file():
            subprocess.run(build.setup(), env={**os.environ, "CXX": build.compiler}, stdout=subprocess.DEVNULL,
                           check=False)
        tests = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else []
        found |= {test["name"]: build for test in tests if "tinyattn:every_flag" in test["suite"]}
    return found


def choose(target, flags, known):
    """Returns the cell of a target with these flags, and the default ones for others; or its only cell."""
    wanted = {prefix: next((flag for flag in flags if flag.startswith(prefix)), default)
              for prefix, default in DEFAULTS.items()}
    its_cells = [name for name in known if name.split()[0] == target]
    exact = [name for name in its_cells if name.split()[1:] == list(wanted.values())]
    if exact or len(its_cells) == 1:
        return (exact or its_cells)[0]
    cell = " ".join([target, *wanted.values()])
    sys.exit(f"there is no cell {cell}; tests/diff --list names the targets, and this one has: {its_cells}")


def workloads(cell, build):
    """Runs the program of a cell. Returns {workload: the lines of its outputs}."""
    done = subprocess.run(["meson", "test", "-C", build.folder, "--suite=every_flag", "--logbase", "diff", cell],
                          capture_output=True, text=True, check=False)
    log = build.folder / "meson-logs" / "diff.json"
    if not log.is_file() or "FAILED: " in done.stdout:
        sys.exit(done.stdout + done.stderr)
    return answers.read(json.loads(log.read_text(encoding="utf-8"))["stdout"])[1]


def main(*arguments):
    known = cells()
    if arguments == ("--list",):
        sys.exit(print(*dict.fromkeys(name.split()[0] for name in known), sep="\n"))
    flags = [argument for argument in arguments if argument.startswith("-")]
    one, other = ["compiler", *(argument for argument in arguments if argument not in flags)][-2:]
    expected, computed = (workloads(cell, known[cell])
                          for cell in (choose(target, flags, known) for target in (one, other)))
    both = [name for name in expected if name in computed and answers.TOO_LARGE not in (expected[name], computed[name])]
    if not both:
        sys.exit(f"{one} and {other} have no workload in common")
    problems = {name: answers.problem_of(computed[name], expected[name], False) for name in both}
    differing = [f"{name}: {problem}" for name, problem in problems.items() if problem]
    print(f"{other} instead of {one}: {len(differing)} of {len(both)} workloads differ" if differing
          else f"the same bits in {len(both)} workloads", *differing, sep="\n")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main(*sys.argv[1:])
