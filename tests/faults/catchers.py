# SPDX-License-Identifier: MIT
"""What can catch a fault: every test, built in several ways from a copy of the tree.

A catcher's `catch(tree)` says what caught the fault that is in that tree, or nothing; it raises Broken if the tree does not even compile.
"""
import dataclasses
import functools
import os
import re
import subprocess
import sys

COMPILE_SECONDS = 300
RUN_SECONDS = 60

# Each sees what the others cannot: a port of its own, or what becomes of a product that meets an addition.
BUILDS = {
    "scalar port": ["-O0", "-DTINYATTN_PORT=scalar"],
    "soft port": ["-O0", "-DTINYATTN_PORT=soft"],
    "native port, contracted": ["-O2", "-march=native", "-ffp-contract=fast"],
    "native port, not contracted": ["-O2", "-march=native", "-ffp-contract=off"],
}
FLAGS = ["-std=c++20", "-Itests", "-Iinclude", "-Iports/simd", "-Iports/boards", "-Igenerated", '-DBOARD_NAME="host"']

HARNESS = "tests/support/run.cpp"
HOST = "ports/boards/host/host.cpp"
COMPILED_LIBRARY = "src/compiled.cpp"


class Broken(Exception):
    """The compiler refuses the tree for another reason than a check."""


def call(command, folder, seconds):
    """Status and what was printed; no status if it did not end."""
    try:
        done = subprocess.run([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", errors="replace", timeout=seconds, check=False, env={**os.environ, "LC_ALL": "C"})
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout + done.stderr


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

    name: str
    sources: tuple
    build: str
    compiler: tuple

    def command(self):
        return [*self.compiler, *FLAGS, "-w", *BUILDS[self.build]]

    @functools.cache
    def files(self, tree):
        """All that goes into it."""
        status, rules = call([*self.command(), "-MM", *self.sources], tree, COMPILE_SECONDS)
        if status != 0:
            raise Broken(rules)
        return frozenset(os.path.normpath(word) for word in rules.replace("\\\n", " ").split() if not word.endswith(":"))

    def catch(self, tree):
        program = tree / "program"
        status, errors = call([*self.command(), *self.sources, "-o", program], tree, COMPILE_SECONDS)
        if status != 0:
            return f"{self.name}: {refusal(errors)} (in the compiler)"
        caught = failure(*call([program], tree, RUN_SECONDS))
        return f"{self.name}: {caught} ({self.build})" if caught else ""


@dataclasses.dataclass(frozen=True)
class Script:
    """Tests that call the compiler themselves and print the Test Anything Protocol."""

    name: str
    command: tuple

    def catch(self, tree):
        status, output = call(self.command, tree, COMPILE_SECONDS)
        if "ok 1 - " not in output:
            raise Broken(f"{self.name}: {output[-300:]}")
        caught = failure(status, output)
        return f"{self.name}: {caught}" if caught else ""


def sources(test):
    common = (HARNESS,) if test.parts[-2] == "harness" else (HARNESS, HOST)
    return (str(test), *common, *([COMPILED_LIBRARY] if test.stem == "compiled" else []))


def programs(tree, build, compiler):
    """Those that include least come first: they are quick, and what they catch is not seen better from above."""
    tests = [test.relative_to(tree) for folder in ("unit", "harness", "golden") for test in sorted((tree / "tests" / folder).glob("*.cpp"))]
    made = [Program(f"{test.parts[-2]}/{test.stem}", sources(test), build, compiler) for test in tests]
    return sorted(made, key=lambda program: (program.name.startswith("golden/"), len(program.files(tree))))


def scripts(compiler):
    python = (sys.executable, "-B")
    refusals = (*python, "tests/support/refusals.py", "tests/refusals", "--", *compiler, *FLAGS, "-Wall", "-Wpedantic", "-Werror")
    return {"refusals": Script("refusals", refusals), "firmware": Script("firmware", (*python, "tests/faults/firmware.py"))}
