# SPDX-License-Identifier: MIT
"""The test programs of unit, conformance, harness and golden, and one of the compiled library, built without Meson from any copy of the
tree: for what must build them in many ways."""
import dataclasses
import os
import shutil
import subprocess
import sys

# Seen from the top of a tree.
FLAGS = ["-std=c++20", "-Itests", "-Iinclude", "-Iports/simd", "-Iports/boards", "-Igenerated", '-DBOARD_NAME="host"']
RUN_TESTS = "tests/support/run.cpp"
HOST = "ports/boards/host/host.cpp"
FOLDERS = ("unit", "conformance", "harness", "golden")
COMPILED_LIBRARY = "src/library.cpp"


def call(command, folder, seconds, **environment):
    """Status and what was printed; no status if it did not end."""
    try:
        done = subprocess.run([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                              errors="replace", timeout=seconds, check=False, env={**os.environ, "LC_ALL": "C", **environment})
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout + done.stderr


def copy_tree(root, to):
    """All that tests are made of, and the headers that Meson generates for the golden ones."""
    for name in ("include", "ports", "src", "tests"):
        shutil.copytree(root / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    generated = to / "generated" / "reference"
    generated.mkdir(parents=True)
    reference = to / "tests" / "reference"
    for data in reference.glob("*.json"):
        call([sys.executable, "-B", reference / "to_cpp.py", data, generated / f"{data.stem}.hpp"], to, 60)


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    sources: tuple


RANDOM_CALLS = Program("compiled/random_calls", ("tests/compiled/random_calls.cpp", COMPILED_LIBRARY))


def sources(test):
    if test.parts[-2] == "harness":
        return str(test), RUN_TESTS
    return (str(test), RUN_TESTS, HOST) + ((COMPILED_LIBRARY,) if test.stem.startswith("compiled") else ())


def programs(tree):
    tests = [test.relative_to(tree) for folder in FOLDERS for test in sorted((tree / "tests" / folder).glob("*.cpp"))]
    return [Program(f"{test.parts[-2]}/{test.stem}", sources(test)) for test in tests] + [RANDOM_CALLS]
