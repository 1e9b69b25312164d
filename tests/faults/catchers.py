# SPDX-License-Identifier: MIT
"""What can catch a fault: a test program in one of several builds from a copy of the tree, or a script.

A catcher's `catch(tree)` says what caught the fault that is in that tree, or nothing; it raises Broken if the tree does not even compile.
"""
import dataclasses
import functools
import os
import re
import sys

import programs
from programs import call

COMPILE_SECONDS = 300
RUN_SECONDS = 60

# Each sees what the others cannot: a port of its own, or what becomes of a product that meets an addition.
BUILDS = {
    "scalar": ["-O0", "-DTINYATTN_PORT=scalar"],
    "addresses": ["-O0", "-DTINYATTN_PORT=scalar", "-fsanitize=address"],
    "soft": ["-O0", "-DTINYATTN_PORT=soft"],
    "fpu": ["-O2", "-march=native", "-DTINYATTN_PORT=fpu", "-ffp-contract=off"],
    "fpu, contracted": ["-O2", "-march=native", "-DTINYATTN_PORT=fpu", "-ffp-contract=fast"],
    "native": ["-O2", "-march=native", "-ffp-contract=fast"],
    "avx2": ["-O2", "-mavx2", "-mfma", "-ffp-contract=fast"],
    "sse2": ["-O2", "-DTINYATTN_PORT=sse2", "-ffp-contract=fast"],
}


class Broken(Exception):
    """The compiler refuses the tree for another reason than a check."""


def refusal(errors):
    """Which check stopped the compiler."""
    test = re.search(r"in 'constexpr' expansion of '[^']*everywhere<.*?\(\(const char\*\)\"(.*?)\"\)", errors)
    if test:
        return test[1]
    assertion = re.search(r"error: static assertion failed(?:: (.*))?", errors)
    if assertion:
        return assertion[1] or "a static_assert"
    first = re.search(r".*error: .*", errors)
    raise Broken(f"does not compile: {first[0] if first else errors[:300]}")


def failure(status, output):
    """The test that failed, or nothing."""
    if status == 0:
        return ""
    test = re.search(r"^not ok \d+ - (.*)", output, re.MULTILINE)
    return test[1] if test else "it does not end" if status is None else f"it ends with status {status}"


@dataclasses.dataclass(frozen=True)
class Program:
    """A test program in one of the builds."""

    program: programs.Program
    build: str
    compiler: tuple

    @property
    def name(self):
        return self.program.name

    def command(self):
        return [*self.compiler, *programs.FLAGS, "-w", *BUILDS[self.build], *self.program.sources]

    @functools.cache
    def files(self, tree):
        """All that goes into it."""
        status, rules = call([*self.command(), "-MM"], tree, COMPILE_SECONDS)
        if status != 0:
            raise Broken(rules)
        return frozenset(os.path.normpath(word) for word in rules.replace("\\\n", " ").split() if not word.endswith(":"))

    def uses(self, tree, file):
        return file in self.files(tree)

    def catch(self, tree):
        executable = tree / "executable"
        status, errors = call([*self.command(), "-o", executable], tree, COMPILE_SECONDS)
        if status != 0:
            return f"{self.name}: {refusal(errors)} (in the compiler)"
        caught = failure(*call([executable], tree, RUN_SECONDS))
        return f"{self.name}: {caught} ({self.build})" if caught else ""


@dataclasses.dataclass(frozen=True)
class Script:
    """Tests that call the compiler themselves and print the Test Anything Protocol."""

    name: str
    command: tuple

    def uses(self, *_):
        return True

    def catch(self, tree):
        status, output = call(self.command, tree, COMPILE_SECONDS)
        if "ok 1 - " not in output:
            raise Broken(f"{self.name}: {output[-300:]}")
        caught = failure(status, output)
        return f"{self.name}: {caught}" if caught else ""


def all_programs(tree, build, compiler):
    """Those that include least come first: they are quick, and what they catch is not seen better from above."""
    made = [Program(program, build, compiler) for program in programs.programs(tree)]
    return sorted(made, key=lambda it: (it.name.startswith("golden/"), len(it.files(tree))))


PYTHON = (sys.executable, "-B")


def refusals(compiler, *names):
    """All programs that must not compile, or those with these names."""
    command = (*PYTHON, "tests/support/refusals.py", "tests/refusals", *names, "--", *compiler, *programs.FLAGS, "-Wall", "-Wpedantic", "-Werror")
    return Script("refusals", command)


def firmware():
    return Script("firmware", (*PYTHON, "tests/faults/firmware.py"))
