# SPDX-License-Identifier: MIT
"""Imports PyTorch, or skips the tests if it is missing. Saves models of PyTorch as small files in data/, or tests the
exporter on new ones."""
import json
import os
import pathlib
import sys

DEBIANS = "/usr/bin/python3"
try:
    import torch
except ImportError:
    if sys.executable != DEBIANS and pathlib.Path(DEBIANS).exists():
        os.execv(DEBIANS, [DEBIANS, "-B", "-m", f"tests.export.{pathlib.Path(sys.argv[0]).stem}", *sys.argv[1:]])
    torch = None

from ports.pytorch import tinyattn_export as export
from ports.pytorch.tinyattn_export import command_line
from tests.export import exporter
from tests.export.exporter import DATA, in_folder
from tests.support import tap

if not torch:
    tap.report([("fresh models", tap.Skip, "PyTorch is not installed (Debian: python3-torch)")])
torch.set_grad_enabled(False)


def nine_digits(matrix):
    """Returns a matrix as lists of numbers of nine digits, enough to read back the same float32."""
    return [[float(f"{value:.9g}") for value in row] for row in matrix.tolist()]


@in_folder
def fresh(folder, state, case):
    """Checks that .pt and state_dict in memory give the same header as .safetensors, except for the name of the
    source."""
    weights = folder / "weights.safetensors"
    export.write_safetensors(weights, state)
    torch.save(state, folder / "weights.pt")
    request = command_line.requests(command_line.parse(["-", "-o", "-", *exporter.arguments_of(case, folder)]))
    for number, way in enumerate((export.read(weights), export.of_state_dict(state, weights.name),
                                  export.read(folder / "weights.pt"))):
        export.write(folder / f"{number}.hpp", way, "model", request)
    file, memory, pt = ((folder / f"{number}.hpp").read_text().partition("#pragma once") for number in range(3))
    if file != memory or file[2] != pt[2]:
        return "from .pt or from memory it differs"
    return exporter.computes(weights, case)


def write_data(file, models):
    """Writes the tensors of each model to a file of its own, and the cases of all models to `file`."""
    cases = []
    for name, state, case in models:
        cases.append(f'"{name}": {json.dumps(case)}')
        export.write_safetensors(DATA / f"{name}.safetensors", state)
    (DATA / file).write_text("{\n" + ",\n".join(cases) + "\n}\n", encoding="utf-8")
