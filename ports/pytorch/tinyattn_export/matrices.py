# SPDX-License-Identifier: MIT
"""Tensors as a Linear layer of tinyattn wants them: rows of inputs, columns of outputs."""
import array
import dataclasses

from .refusal import Refusal, shown
from .tensors import extents


@dataclasses.dataclass(frozen=True)
class Matrix:
    """In x out, each row an array of float32."""

    rows: list

    @property
    def d_in(self):
        return len(self.rows)

    @property
    def d_out(self):
        return len(self.rows[0])

    def __str__(self):
        return f"{self.d_in} x {self.d_out}"


@dataclasses.dataclass(frozen=True)
class LinearValues:
    weight: Matrix
    bias: array.array  # or None

    @property
    def parameter_count(self):
        return self.weight.d_in * self.weight.d_out + len(self.bias or ())

    def tree(self):
        """The members of a tinyattn::Linear, in order."""
        members = {"weight": self.weight.rows}
        return members if self.bias is None else {**members, "bias": [self.bias]}


def checked_shape(tensor, place):
    """Inputs, outputs of the whole weight, and outputs of the block that the place asks for."""
    if len(tensor.shape) != 2 or 0 in tensor.shape:
        raise Refusal(f"{shown(tensor.name)} has the wrong shape, {extents(tensor.shape)}: a weight has two dimensions, neither zero")
    outputs, inputs = reversed(tensor.shape) if place.in_by_out else tensor.shape
    if outputs % place.blocks:
        raise Refusal(f"{shown(tensor.name)} has the wrong shape, {extents(tensor.shape)}: {outputs} outputs are not three of one width")
    return inputs, outputs, outputs // place.blocks


def weight_of(tensor, place):
    inputs, outputs, width = checked_shape(tensor, place)
    values = tensor.values()
    first = place.block * width
    if place.in_by_out:
        return Matrix([values[i * outputs + first:i * outputs + first + width] for i in range(inputs)])
    block = values[first * inputs:(first + width) * inputs]
    return Matrix([block[i::inputs] for i in range(inputs)])


def bias_of(tensor, place, width):
    if tensor.shape != (width * place.blocks,):
        outputs = width * place.blocks
        raise Refusal(f"{shown(tensor.name)} has the wrong shape, {extents(tensor.shape)}: {shown(place.weight)} has {outputs} outputs")
    return tensor.values()[place.block * width:(place.block + 1) * width]


def linear_of(tensors, place):
    weight = weight_of(tensors[place.weight], place)
    bias = tensors.get(place.bias)
    return LinearValues(weight, None if bias is None else bias_of(bias, place, weight.d_out))


def side_by_side(heads):
    """The outputs of several Linear layers as those of one."""
    shapes = {str(head.weight) for head in heads}
    if len(shapes) > 1:
        raise Refusal(f"the heads have different shapes: {', '.join(sorted(shapes))}")
    rows = [joined(head.weight.rows[i] for head in heads) for i in range(heads[0].weight.d_in)]
    without = all(head.bias is None for head in heads)
    biases = (head.bias if head.bias is not None else zeros(head.weight.d_out) for head in heads)
    return LinearValues(Matrix(rows), None if without else joined(biases))


def joined(arrays):
    return array.array("f", b"".join(arrays))


def zeros(count):
    return array.array("f", bytes(4 * count))
