# SPDX-License-Identifier: MIT
"""Weights of eight bits: which weights of a part become int8, and how they are rounded. Each must have the bits that
`quantize` of include/tinyattn/weights.hpp gives."""
import array
import dataclasses
import operator
import struct

from .errors import ExportError

TYPE = "::tinyattn::Weights::int8"
LINEARS = ("query", "key", "value", "out_proj", "up", "gate", "down", "head", "linear", "convolution")
EMBEDDING = "token_embedding"
ROW = 16  # the number of codes in a row is a multiple of it
ZERO = 128  # the code of the weight 0, and of padding
LARGEST = 127
FEWEST_BITS = 8  # of an input. With fewer, a layer is not exact enough, and does not compile
MOST_INPUTS = (2**31 - 1) // ((2**FEWEST_BITS - 1) * LARGEST)  # the sum of their products fits into an int32


@dataclasses.dataclass(frozen=True)
class Int8Matrix:
    """Weights as tinyattn's Int8Matrix has them."""

    rows: list  # of codes, for each output: bytes, padded
    scales: array.array  # of the outputs
    inputs: int
    error: float  # the largest difference of a weight and its code, in steps of its scale

    @property
    def parameter_count(self):
        return self.inputs * len(self.rows)

    @property
    def size(self):
        return len(self.rows) * (len(self.rows[0]) + 4)

    def content(self):
        """Returns the bytes in the memory of the target. There is no padding but that of the rows."""
        return b"".join(self.rows) + struct.pack(f"<{len(self.scales)}f", *self.scales)


def scale_of(weights):
    """Returns the scale of an output. It is 1 if all weights are zero, or so small, all below 2^-143, that their scale
    is zero in float32. tinyattn does not specify what it computes of a scale below 2^-126."""
    return array.array("f", [max(map(abs, weights)) / LARGEST])[0] or 1.0


def quantize(outputs):
    """Returns the Int8Matrix of weights that are given as an array for each output."""
    rows, scales, error = [], array.array("f"), 0.0
    for weights in outputs:
        scale = scale_of(weights)
        steps = [weight / scale for weight in weights]
        rounded = [max(-LARGEST, min(LARGEST, round(step))) for step in steps]  # round: half to even
        error = max(error, max(map(abs, map(operator.sub, steps, rounded))))
        rows.append(bytes(map(ZERO.__add__, rounded)).ljust(-(-len(steps) // ROW) * ROW, bytes([ZERO])))
        scales.append(scale)
    return Int8Matrix(rows, scales, len(outputs[0]), error)


def transposed(rows):
    joined, count = array.array("f", b"".join(rows)), len(rows[0])
    return [joined[i::count] for i in range(count)]


def quantized(tree, path=""):
    """Returns the tree of a part with an Int8Matrix for each weight of a Linear, a Conv1d, and the token embedding.
    `path`: the members that lead to it."""
    name = path.rpartition(".")[2]
    if isinstance(tree, tuple):
        return tuple(quantized(member, f"{path}[{i}]") for i, member in enumerate(tree))
    if isinstance(tree, dict) and name in (*LINEARS, EMBEDDING):
        outputs = tree["weight"] if name == EMBEDDING else transposed(tree["weight"])
        if len(outputs[0]) > MOST_INPUTS:
            raise ExportError(f"{path} has {len(outputs[0])} inputs: with int8 weights a layer has at most "
                              f"{MOST_INPUTS}, as its sums have 32 bits")
        return {**tree, "weight": quantize(outputs)}
    if isinstance(tree, dict):
        return {member: quantized(tree[member], f"{path}.{member}".lstrip(".")) for member in tree}
    return tree


def leaves(tree, path=""):
    """Yields (the members that lead to it, the leaf) for each leaf of a tree, in the order of memory: lists of rows,
    single numbers and Int8Matrices."""
    if isinstance(tree, (list, float, Int8Matrix)):
        yield path, tree
    elif isinstance(tree, dict):
        for name, member in tree.items():
            yield from leaves(member, f"{path}.{name}".lstrip("."))
    else:
        for i, member in enumerate(tree or ()):
            yield from leaves(member, f"{path}[{i}]")
