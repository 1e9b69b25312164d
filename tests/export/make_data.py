#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes a small file of weights for each layout, and cases.json: how to export each, an input, and PyTorch's output.

    make_data.py                                              those in data/
    make_data.py FOLDER D_IN D_OUT NUM_HEADS TOKENS SEED      others, as .pt too, and headers from memory

Needs PyTorch (Debian: python3-torch).
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "ports" / "pytorch"))

import torch

import export
import models

DATA = HERE / "data"
SHAPE = models.Shape(d_in=6, d_out=8, num_heads=2, tokens=5)
SEED = 2026


def nine_digits(matrix):
    """Enough to read back the same float32."""
    return [[float(f"{value:.9g}") for value in row] for row in matrix.tolist()]


def write(folder, shape, seed, other_ways):
    cases = {}
    for number, (name, case) in enumerate(models.CASES.items()):
        state, x, out = models.computed(case, shape, seed + number)
        export.write_safetensors(folder / f"{name}.safetensors", state)
        if other_ways:
            torch.save(state, folder / f"{name}.pt")
            part = export.requested(export.arguments(["-", "-o", "-", *models.arguments(case, shape)]))
            export.write(folder / f"{name}.memory.hpp", export.of_state_dict(state, f"{name}.safetensors"), "model", part)
        cases[name] = {"arguments": models.arguments(case, shape), "input": nine_digits(x), "output": nine_digits(out)}
    text = ",\n".join(f'"{name}": {json.dumps(case)}' for name, case in cases.items())
    (folder / "cases.json").write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if len(sys.argv) == 1:
    write(DATA, SHAPE, SEED, False)
else:
    *shape, seed = map(int, sys.argv[2:])
    write(pathlib.Path(sys.argv[1]), models.Shape(*shape), seed, True)
