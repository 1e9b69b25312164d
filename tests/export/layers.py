# SPDX-License-Identifier: MIT
"""Exports a file of weights as a user does, compiles a program with the header, and compares what it computes with PyTorch's output."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "export" / "program.cpp"
TOLERANCE = 4e-6


def call(command, **settings):
    return subprocess.run([str(word) for word in command], capture_output=True, encoding="utf-8", errors="replace", check=False, **settings)


def export(weights, header, *arguments, python=sys.executable):
    return call([python, "-B", ROOT / "ports" / "pytorch" / "export.py", weights, "-o", header, *arguments])


def flat(matrix):
    return [value for row in matrix for value in row]


def farthest(found, wanted):
    """The largest difference; NaN counts."""
    return max((abs(a - b) for a, b in zip(found, wanted, strict=True)), key=lambda d: (d != d, d))


def outputs(header, x, compiler, folder, *arguments):
    """What the exported layer computes, or what went wrong as text."""
    program = folder / "program"
    built = call([*compiler, "-O1", "-include", header, *arguments, PROGRAM, "-o", program])
    if built.returncode:
        return "\n".join(built.stderr.splitlines()[:20])
    ran = call([program], input=" ".join(map(repr, flat(x))))
    return list(map(float, ran.stdout.split())) if ran.returncode == 0 else f"the program ended with {ran.returncode}"


def check(weights, case, compiler):
    """What is wrong with the export of a case, or nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = export(weights, folder / "model.hpp", *case["arguments"])
        if done.returncode:
            return done.stderr
        found = outputs(folder / "model.hpp", case["input"], compiler, folder)
        if isinstance(found, str):
            return found
        distance = farthest(found, flat(case["output"]))
        return "" if distance <= TOLERANCE else f"the output differs from PyTorch's by {distance:.3g}"
