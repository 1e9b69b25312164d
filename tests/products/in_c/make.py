# SPDX-License-Identifier: MIT
"""Exports models of tests/products/export/models.py as C, and writes their inputs and PyTorch's outputs.

    make FOLDER    writes NAME.h and NAME.c of each model, and expected.h
"""
import json
import pathlib
import sys

from tests.products.export import exporter
from tests.products.export.files import safetensors
from tests.products.export.models import STORED

MODELS = {"layer": "multihead_attention", "encoder": "encoder_norm_first", "encoder_int8": "encoder_norm_first_int8",
          "decoder": "model_llama", "decoder_int8": "model_llama_int8"}


def export(folder, name, case):
    weights = folder / f"{name}.safetensors"
    weights.write_bytes(safetensors(case.tensors))
    exporter.must_run(weights, "-o", folder / f"{name}.h", "--c", "--name", name, *exporter.arguments_of(case, folder))


def array(kind, name, rows):
    values = ", ".join(f"{value:.9g}" + ("f" if "float" in kind and "." in f"{value:.9g}" else "")
                       for row in rows for value in row)
    return f"static const {kind} {name}[] = {{{values}}};\n"


def main(folder):
    expected = json.loads(exporter.EXPECTED.read_text(encoding="utf-8"))
    text = "/* Inputs, and what PyTorch computes of them; written by make.py. */\n"
    for name, stored in MODELS.items():
        case = STORED[stored]
        export(folder, name, case)
        outputs = expected[stored]["output"]
        inputs = ("uint16_t" if name.startswith("decoder") else "float", f"{name}_input", case.input)
        text += array(*inputs) + array("float", f"{name}_output", outputs)
    (folder / "expected.h").write_text(text, encoding="utf-8")


main(pathlib.Path(sys.argv[1]))
