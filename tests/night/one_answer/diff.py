# SPDX-License-Identifier: MIT
"""Implements tests/diff: finds the first workload, output and element in which the bits of two targets differ.

    >>> right = "sum [2, 2]: 00000001 00000002 00000003 00000004\\n"
    >>> read("broken off\\nadding\\n" + right + "not ok 1 - adding\\n# another CRC\\n")["adding"] == right
    True
    >>> difference(right.replace("00000003", "3f800000"), right)
    'sum [2, 2], element [1, 0]: 3f800000 = 1 instead of 00000003 = 4.20389539e-45; 1 of 4 elements differ'
    >>> difference(right.replace("2, 2", "4"), right)
    'sum [4], element [0] instead of sum [2, 2], element [0, 0]'
    >>> difference(right.replace(" 00000004", ""), right)
    'nothing instead of sum [2, 2], element [1, 1]'
"""
import itertools
import json
import os
import re
import struct
import subprocess
import sys

from tests.support import targets

DEFAULTS = {"-O": "-O2", "-ffp-contract=": "-ffp-contract=fast"}


def read(text):
    """Returns {workload: the lines of its outputs} of what cell.cpp prints."""
    return {name: outputs for name, outputs in re.findall(r"^(.+)\n((?:.*\]:.*\n)*)", text, re.MULTILINE) if outputs}


def elements(outputs):
    """Yields (name of an element, its word), row by row."""
    for output, extents, words in re.findall(r"^(.*\[(.*)\]): (.*)$", outputs, re.MULTILINE):
        for indices, word in zip(itertools.product(*(range(int(extent)) for extent in extents.split(", "))),
                                 words.split()):
            yield f"{output}, element {list(indices)}", word


def value(word):
    return f"{word} = {struct.unpack('>f', bytes.fromhex(word))[0]:.9g}"


def difference(outputs, expected):
    """Returns where outputs first differ from the expected ones, if they do."""
    pairs = list(itertools.zip_longest(elements(outputs), elements(expected), fillvalue=("nothing", "")))
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    (name, word), (expected_name, expected_word) = differing[0]
    if name != expected_name:
        return f"{name} instead of {expected_name}"
    return f"{name}: {value(word)} instead of {value(expected_word)}; {len(differing)} of {len(pairs)} elements differ"


def cells():
    """Returns {name: build} for all cells of the table whose compilers are installed."""
    found = {}
    for build in targets.SUITES["every_flag"].all_builds():
        listed = build.folder / "meson-info" / "intro-tests.json"
        if not listed.is_file():
            subprocess.run(build.setup(), env={**os.environ, "CXX": build.compiler}, stdout=subprocess.DEVNULL,
                           check=False)
        tests = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else []
        found |= {test["name"]: build for test in tests if "tinyattn:every_flag" in test["suite"]}
    return found


def choose(target, flags, known):
    """Returns the target's cell with these flags and defaults for the rest; or its only cell."""
    wanted = [next((flag for flag in flags if flag.startswith(prefix)), default)
              for prefix, default in DEFAULTS.items()]
    its_cells = [name for name in known if name.split()[0] == target]
    exact = [name for name in its_cells if name.split()[1:] == wanted]
    if exact or len(its_cells) == 1:
        return (exact or its_cells)[0]
    sys.exit(f"there is no cell {' '.join([target, *wanted])}; tests/diff --list names the targets, "
             f"and this one has: {its_cells}")


def workloads(cell, build):
    """Runs the program of a cell. Returns {workload: the lines of its outputs}."""
    log = build.folder / "meson-logs" / "diff.json"
    log.unlink(missing_ok=True)
    done = subprocess.run(["meson", "test", "-C", build.folder, "--suite=every_flag", "--logbase", "diff", cell],
                          capture_output=True, text=True, check=False)
    if not log.is_file():  # it cannot be built
        sys.exit(done.stdout + done.stderr)
    return read(json.loads(log.read_text(encoding="utf-8"))["stdout"])


def main(*arguments):
    known = cells()
    if arguments == ("--list",):
        sys.exit(print(*dict.fromkeys(name.split()[0] for name in known), sep="\n"))
    flags = [argument for argument in arguments if argument.startswith("-")]
    one, other = ["compiler", *(argument for argument in arguments if argument not in flags)][-2:]
    expected, computed = (workloads(cell, known[cell])
                          for cell in (choose(target, flags, known) for target in (one, other)))
    both = [name for name in expected if name in computed]
    if not both:
        sys.exit(f"{one} and {other} have no workload in common")
    differing = [f"{name}: {difference(computed[name], expected[name])}" for name in both
                 if computed[name] != expected[name]]
    print(f"{other} instead of {one}: {len(differing)} of {len(both)} workloads differ" if differing
          else f"the same bits in {len(both)} workloads", *differing, sep="\n")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main(*sys.argv[1:])
