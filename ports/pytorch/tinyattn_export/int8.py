# SPDX-License-Identifier: MIT
"""Weights of eight bits, and how they are rounded. Each must have the bits that `quantize` of
include/tinyattn/weights.hpp gives."""
import array
import operator
import struct

from .errors import ExportError
from .matrices import StoredMatrix

ROW = 16  # the number of codes in a row is a multiple of it
ZERO = 128  # the code of the weight 0, and of padding
LARGEST = 127
FEWEST_BITS = 8  # of an input. With fewer, a layer is not exact enough, and does not compile
MOST_INPUTS = (2**31 - 1) // ((2**FEWEST_BITS - 1) * LARGEST)  # the sum of their products fits into an int32


def scale_of(weights):
    """Returns the scale of an output. It is 1 if all weights are zero, or so small, all below 2^-143, that their scale
    is zero in float32. tinyattn does not specify what it computes of a scale below 2^-126."""
    return array.array("f", [max(map(abs, weights)) / LARGEST])[0] or 1.0


def quantize(outputs):
    """Returns the codes, the scales and the largest error of weights that are given as an array for each output."""
    rows, scales, error = [], array.array("f"), 0.0
    for weights in outputs:
        scale = scale_of(weights)
        steps = [weight / scale for weight in weights]
        rounded = [max(-LARGEST, min(LARGEST, round(step))) for step in steps]  # round: half to even
        error = max(error, max(map(abs, map(operator.sub, steps, rounded))))
        rows.append(bytes(map(ZERO.__add__, rounded)).ljust(-(-len(steps) // ROW) * ROW, bytes([ZERO])))
        scales.append(scale)
    return rows, scales, error


def transposed(rows):
    joined, count = array.array("f", b"".join(rows)), len(rows[0])
    return [joined[i::count] for i in range(count)]


def matrix_of(rows, is_table, path):
    """Returns a StoredMatrix as tinyattn's Int8Matrix is, with a row for each output, or for each token of a table."""
    outputs = rows if is_table else transposed(rows)
    if len(outputs[0]) > MOST_INPUTS:
        raise ExportError(f"{path} has {len(outputs[0])} inputs: with int8 weights a layer has at most "
                          f"{MOST_INPUTS}, as its sums have 32 bits")
    codes, scales, error = quantize(outputs)
    return StoredMatrix(
        "int8", [("code", "codes", "uint8_t", codes), ("scale", "scales", "float", [scales])],
        len(outputs) * len(outputs[0]), b"".join(codes) + struct.pack(f"<{len(scales)}f", *scales),
        f"largest error {error:.4f} steps")
