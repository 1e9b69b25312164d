# SPDX-License-Identifier: MIT
"""The rows of the tables: an operation of one shape and the work in it; and how many instructions they may take on a core."""
import pathlib
import re
import typing

import building

FOLDER = building.ROOT / "build" / "speed"
PROGRAMS = pathlib.Path(__file__).with_name("programs")


class Row(typing.NamedTuple):
    name: str
    type: str  # in operations.hpp
    work: int = 0  # multiply-adds of a matmul or a layer, elements of a softmax

    def __str__(self):
        return self.name

    def is_a(self, operation):
        return self.name.startswith(operation)

    def flags(self):
        """Of a library's file, which computes it then."""
        return f"-DTINYATTN_BENCH_OPERATION={self.type}", f'-DTINYATTN_BENCH_NAME="{self.name}"'


def matmul(rows, inner, cols):
    shape = f"{rows}³" if rows == inner == cols else f"{rows}x{inner}x{cols}"
    return Row(f"matmul {shape}", f"Matmul<{rows}, {inner}, {cols}>", rows * inner * cols)


def softmax(rows, cols):
    return Row(f"softmax {rows}x{cols}", f"Softmax<{rows}, {cols}>", rows * cols)


def attention(name, tokens, d_in, d_out, num_heads):
    """Causal: query i meets i + 1 keys, in its scores and again in its context."""
    projections = 3 * tokens * d_in * d_out + tokens * d_out * d_out
    pairs = tokens * (tokens + 1) // 2
    return Row(f"attention {name}", f"Attention<{tokens}, {d_in}, {d_out}, {num_heads}>", projections + 2 * pairs * d_out)


T0 = attention("T0", 6, 3, 2, 2)
T1 = attention("T1", 32, 64, 64, 4)

HOST = [
    matmul(6, 3, 2), matmul(6, 64, 64), matmul(1, 512, 512), *(matmul(n, n, n) for n in (8, 16, 32, 64, 128, 256, 512)),
    *(softmax(n, n) for n in (6, 32, 128, 256)), softmax(64, 1024),
    T0, T1, attention("T2", 128, 128, 128, 4), attention("T3", 256, 256, 256, 8), attention("T4", 512, 512, 512, 8),
    attention("T5", 2048, 512, 512, 8),
]


# How many instructions a multiply-add, an element or a whole layer shall take at most.
CORES = {
    matmul(6, 3, 2): {"M4F": 2.6, "M55 Helium": 2.2},
    matmul(8, 8, 8): {"M4F": 2.0, "M55 Helium": 0.70},
    matmul(16, 16, 16): {"M4F": 1.7, "M55 Helium": 0.60},
    matmul(32, 32, 32): {"M4F": 1.45, "M55 Helium": 0.62},
    matmul(32, 64, 64): {"M4F": 1.40, "M55 Helium": 0.60},
    matmul(64, 64, 64): {"M4F": 1.40, "M55 Helium": 0.60, "AArch64": 0.33, "ARMv7 NEON": 0.50},
    softmax(6, 6): {"M4F": 38, "M7": 34, "M55": 34, "M55 Helium": 20},
    softmax(32, 32): {"M4F": 35, "M7": 28, "M55": 28, "M55 Helium": 9},
    T0: {"M4F": 2200, "M7": 1900, "M55 Helium": 1900},
    T1: {"M4F": 980000, "M7": 960000, "M55": 950000, "M55 Helium": 330000},
}


def chosen(rows, options):
    found = [row for row in rows if row.is_a(options.only or "") and re.search(options.filter, row.name)]
    if not found:
        raise building.Failed("no row of that name")
    return found
