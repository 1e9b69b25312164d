#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes a small file of weights for each layout into data/, and data/cases.json: how to export each, an input, and PyTorch's output.

Needs PyTorch (Debian: python3-torch). With another seed, or more shapes, the same serves as a test: see fresh.py.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "ports" / "pytorch"))

import export
import models

SHAPE = models.Shape(d_in=6, d_out=8, num_heads=2, tokens=5)


def nine_digits(matrix):
    """Enough to read back the same float32."""
    return [[float(f"{value:.9g}") for value in row] for row in matrix.tolist()]


def write(folder, shape, seed):
    """Returns the content of cases.json."""
    cases = {}
    for number, (name, case) in enumerate(models.CASES.items()):
        state, x, out = models.computed(case, shape, seed + number)
        export.write_safetensors(folder / f"{name}.safetensors", state)
        cases[name] = {"arguments": models.arguments(case, shape), "input": nine_digits(x), "output": nine_digits(out)}
    return cases


if __name__ == "__main__":
    data = HERE / "data"
    data.mkdir(exist_ok=True)
    text = ",\n".join(f'"{name}": {json.dumps(case)}' for name, case in write(data, SHAPE, 2026).items())
    (data / "cases.json").write_text(f"{{\n{text}\n}}\n", encoding="utf-8")
