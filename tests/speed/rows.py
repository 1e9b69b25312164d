# SPDX-License-Identifier: MIT
"""The rows of rows.toml: the operation of each in programs/, and its work.

    rows host|cores     prints, for Meson, each row and the flags of its program
"""
import math
import pathlib
import re
import sys
import tomllib

from tests.support.processes import ROOT, Failed

TABLE = tomllib.loads(pathlib.Path(__file__).with_name("rows.toml").read_text(encoding="utf-8"))
NOTHING = "nothing 0"
INT8 = {"int8": "-DTINYATTN_BENCH_WEIGHTS=int8", "cache": "-DTINYATTN_BENCH_CACHE=int8"}
WEIGHTS_OF_MODULE = ROOT / "tests" / "golden" / "modules" / "gestures.bin"
OPTIMIZERS = ("sgd", "momentum", "adamw")
RATIOS = {"window": "full", "module": "hand"}  # a window to a flat cache, an exported module to the same calls by hand
HOST, CORES, LAYERS, MODELS = (TABLE[name] for name in ("host", "cores", "layers", "models"))


def extents(row):
    shape = row.split()[1]
    if shape in MODELS:
        return [MODELS[shape]["tokens"]]
    return LAYERS.get(shape) or list(map(int, shape.split("x")))


def flags(row):
    """Returns the flags with which a file of programs/ computes this row. Words after the shape name what is int8."""
    name, shape, *words = row.split()
    operation = f"{name.title()}<{', '.join(map(str, extents(row)))}>"
    model = [f"-DTINYATTN_BENCH_HIDDEN={MODELS[shape]['d_hidden']}"] if shape in MODELS else []
    model += [f'-DTINYATTN_BENCH_MODULE="{WEIGHTS_OF_MODULE}"'] if name in ("module", "hand") else []
    model += ["-DTINYATTN_BENCH_BACKWARD"] if name in ("outer", "returned") else []
    model += ["-DTINYATTN_BENCH_TRAINING"] if name in ("infer", "learn") else []
    model += ["-DTINYATTN_BENCH_OPTIMIZER"] if name in OPTIMIZERS else []
    return [f"-DTINYATTN_BENCH_OPERATION={operation}", *model, *(INT8[word] for word in words)]


def work_of_layer(tokens, d_in, d_out, _):
    """Returns the multiply-adds of a causal layer: query i attends to i + 1 keys, in the scores and in the context."""
    return 3 * tokens * d_in * d_out + tokens * d_out * d_out + tokens * (tokens + 1) * d_out


def work_of_model(tokens, vocabulary, d_model, d_keys, d_hidden, layers):
    weights = 2 * d_model * (d_model + d_keys) + 3 * d_model * d_hidden
    return tokens * (layers * weights + d_model * vocabulary) + layers * tokens * (tokens + 1) * d_model


def work(row):
    """Returns the number of multiply-adds of a matmul, a layer or a model, or of elements of a softmax or
    a weight that an optimizer changes."""
    shape = row.split()[1]
    if shape in MODELS:
        return work_of_model(**MODELS[shape])
    return work_of_layer(*LAYERS[shape]) if shape in LAYERS else math.prod(extents(row))


def flat(row):
    """Returns the row that a row is a ratio to; of most rows an empty string."""
    name, _, rest = row.partition(" ")
    return f"{RATIOS[name]} {rest}" if name in RATIOS else ""


def chosen(names, options):
    found = [row for row in names if row.startswith(options.only or "") and re.search(options.filter, row)]
    found = [row for row in names if row in found or row in map(flat, found)]
    if not found:
        raise Failed("no row of that name")
    return found


if __name__ == "__main__":
    for name in {"host": HOST, "cores": [NOTHING, *CORES]}[sys.argv[1]]:
        print(name, "|".join(flags(name)), sep="\t")
