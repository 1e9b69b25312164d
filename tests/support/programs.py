# SPDX-License-Identifier: MIT
"""The test programs of unit, conformance, harness and golden, and one of the compiled library, in any copy of the tree: for what builds
them in many ways."""
import shutil
import sys

import building

COMPILED_LIBRARY = "src/library.cpp"


def flags(folder):
    """Beside the language: where the values of PyTorch lie, and the name of this machine."""
    return (f"-I{folder / 'generated'}", '-DBOARD_NAME="host"')


def write_reference(folder, tree=building.ROOT):
    """The headers that Meson generates for the golden tests."""
    generated = folder / "generated" / "reference"
    generated.mkdir(parents=True)
    for data in (tree / "tests" / "reference").glob("*.json"):
        building.call([sys.executable, "-B", data.with_name("to_cpp.py"), data, generated / f"{data.stem}.hpp"])


def copy_tree(root, to):
    """All that tests are made of."""
    for name in ("include", "ports", "src", "tests"):
        shutil.copytree(root / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    write_reference(to, to)


def programs(tree):
    """{name: sources}"""
    made = {"compiled/random_calls": ["tests/compiled/random_calls.cpp", COMPILED_LIBRARY]}
    for folder in ("unit", "conformance", "harness", "golden"):
        for test in sorted((tree / "tests" / folder).glob("*.cpp")):
            board = ["ports/boards/host/host.cpp"] if folder != "harness" else []
            library = [COMPILED_LIBRARY] if test.stem.startswith("compiled") else []
            made[f"{folder}/{test.stem}"] = [f"tests/{folder}/{test.name}", "tests/support/run.cpp", *board, *library]
    return made
