# SPDX-License-Identifier: MIT
"""The rows of the tables, by their names, which are an operation and its shape; and the most instructions that they may
take on a core.

    rows host|cores     prints, for Meson, each row and the flags of its program
"""
import math
import re
import sys

from tests.support.processes import Failed

NOTHING = "nothing 0"

# {causal layer: (tokens, d_in, d_out, heads)}
LAYERS = {"T0": (6, 3, 2, 2), "T1": (32, 64, 64, 4), "T2": (128, 128, 128, 4),
          "T3": (256, 256, 256, 8), "T4": (512, 512, 512, 8), "T5": (2048, 512, 512, 8)}
# {decoder: (tokens to read, vocabulary, d_model, layers, heads, key heads, d_hidden, context)}: llama2.c's stories260K.
MODELS = {"260K": (64, 512, 64, 5, 8, 4, 172, 64)}
# The products that compute a token of a model: one row times a matrix. The last two are of attention: scores and
# context of a head.
ROWS = ("1x64x64", "1x64x172", "1x172x64", "1x64x512", "1x8x32", "1x32x8")
HOST = [
    "matmul 6x3x2", "matmul 6x64x64", "matmul 1x512x512",
    *(f"matmul {n}x{n}x{n}" for n in (8, 16, 32, 64, 128, 256, 512)),
    *(f"softmax {n}x{n}" for n in (6, 32, 128, 256)), "softmax 64x1024", *(f"attention {name}" for name in LAYERS),
    "token 260K", "prompt 260K",
]
# {row: {core: limit}} of instructions for a multiply-add, an element or a whole layer.
CORES = {
    "matmul 6x3x2": {"M4F": 2.6, "M55 Helium": 2.2},
    "matmul 8x8x8": {"M4F": 2.0, "M55 Helium": 0.70},
    "matmul 16x16x16": {"M4F": 1.7, "M55 Helium": 0.60},
    "matmul 32x32x32": {"M4F": 1.45, "M55 Helium": 0.62},
    "matmul 32x64x64": {"M4F": 1.40, "M55 Helium": 0.60},
    "matmul 64x64x64": {"M4F": 1.40, "M55 Helium": 0.60, "AArch64": 0.33, "ARMv7 NEON": 0.50},
    **{f"matmul {shape}": {"M3": 66, "M4F": 1.32, "M7": 1.32, "M55 Helium": 0.64} for shape in ROWS[:4]},
    **{f"matmul {shape}": {"M4F": 1.65, "M7": 1.65, "M55 Helium": 1.1} for shape in ROWS[4:]},
    "transposed 1x64x512": {"M3": 66, "M4F": 1.4, "M7": 1.4, "M55 Helium": 0.7},
    "softmax 6x6": {"M4F": 38, "M7": 34, "M55": 34, "M55 Helium": 20},
    "softmax 32x32": {"M4F": 35, "M7": 28, "M55": 28, "M55 Helium": 9},
    "attention T0": {"M4F": 2200, "M7": 1900, "M55 Helium": 1900},
    "attention T1": {"M4F": 980000, "M7": 960000, "M55": 950000, "M55 Helium": 330000},
    "token 260K": {"M3": 22000000, "M4F": 420000, "M7": 420000, "M55 Helium": 190000},
    "prompt 260K": {"M4F": 1.5, "M55 Helium": 0.55},
}


def extents(row):
    shape = row.split()[1]
    return LAYERS.get(shape) or MODELS.get(shape) or tuple(map(int, shape.split("x")))


def flags(row):
    """Returns the flags with which a file of programs/ computes this row."""
    operation = f"{row.split()[0].title()}<{', '.join(map(str, extents(row)))}>"  # in operations.hpp
    model = ["-DTINYATTN_BENCH_MODELS"] if row.split()[1] in MODELS else []
    return f"-DTINYATTN_BENCH_OPERATION={operation}", f'-DTINYATTN_BENCH_NAME="{row}"', *model


def work(row):
    """Returns the number of multiply-adds of a matmul, a layer or a model, or of elements of a softmax."""
    if row.startswith(("token", "prompt")):
        tokens, vocabulary, d_model, num_layers, heads, kv_heads, d_hidden, _ = extents(row)
        block = 2 * d_model * d_model * (heads + kv_heads) // heads + 3 * d_model * d_hidden
        return tokens * (num_layers * block + d_model * vocabulary) + num_layers * tokens * (tokens + 1) * d_model
    if not row.startswith("attention"):
        return math.prod(extents(row))
    tokens, d_in, d_out, _ = extents(row)
    pairs = tokens * (tokens + 1) // 2  # query i attends to i + 1 keys: in the scores, and again in the context
    return 3 * tokens * d_in * d_out + tokens * d_out * d_out + 2 * pairs * d_out


def chosen(names, options):
    found = [row for row in names if row.startswith(options.only or "") and re.search(options.filter, row)]
    if not found:
        raise Failed("no row of that name")
    return found


if __name__ == "__main__":
    for name in {"host": HOST, "cores": [NOTHING, *CORES]}[sys.argv[1]]:
        print(name, "|".join(flags(name)), sep="\t")
