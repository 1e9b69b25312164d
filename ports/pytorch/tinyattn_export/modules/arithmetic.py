# SPDX-License-Identifier: MIT
"""Sums, differences, products and quotients: of two results of steps, or of one and a constant."""
import math

import torch

from . import attention
from .elementwise import mapped, number_of
from .layout import literal
from .table import lowers
from .values import Constant, Operand, Value, numbered, operand_of, whole

LARGEST = torch.finfo(torch.float32).max
NAMES = {"add": "add", "mul": "multiply", "sub": "subtract", "truediv": "divide"}


def arithmetic(low, function, a, b):
    """Computes a function of two arguments, of which one may be a constant or a number."""
    if function in ("add", "multiply") and not isinstance(a, Value) or (
            function == "add" and isinstance(b, Value) and b.view.numel() > a.view.numel()):
        a, b = b, a
    if function == "subtract" and not isinstance(a, Value):
        return arithmetic(low, "add", negative(low, b), a)
    a, b = (low.check_floats(each) if isinstance(each, Value) else each for each in (a, b))
    number = number_of(b) if not isinstance(b, Value) else None
    if isinstance(a, Value) and (number == 0 and function == "add" or number == 1 and function == "multiply"):
        return a
    if number is not None and abs(number) <= LARGEST and function != "divide":
        return low.elementwise(a, function, literal(number))
    found = None
    if number is None and isinstance(a, Value) and function != "divide":
        found = (with_constant if isinstance(b, Constant) else with_value)(low, function, a, b)
    return found or mapped(low, function, a, b)


def with_constant(low, function, a, b):
    """Returns the Value of a function whose second argument is a row, or has the shape of the first, or None."""
    if torch.broadcast_shapes(a.shape, b.shape) != a.shape or operand_of(a) is None and not a.is_whole():
        return None
    if function == "add" and (b.tensor == -math.inf).any():
        masked = attention.masked_fill(low, a, Constant(b.tensor == -math.inf, b.name), -math.inf)
        rest = Constant(b.tensor.masked_fill(b.tensor == -math.inf, 0.0), b.name)
        return arithmetic(low, "add", masked, rest) if rest.tensor.any() else masked
    operand, view = low.elements_of(a)
    full = b.tensor.float().expand(a.shape)
    if not torch.isfinite(full).all():
        low.refuse(f"{function} with a constant that holds infinity",
                   "give masks as attn_mask, or to masked_fill before softmax")
    ordered = full.permute(Value(operand.object, view).order()).reshape(operand.extents)
    row = ordered.reshape(-1, operand.extents[-1])
    if len(operand.extents) > 1 and torch.equal(row, row[:1].expand_as(row)):
        constant = whole(low.members.tensor(row[0], b.name))
        if function == "multiply" and follows_subtraction(low, operand):
            (_, x, _, mean, *_) = low.program.steps.pop().text
            return Value(low.call("standardize", x, mean, constant, extents=operand.extents, in_place=[x],
                                  name="standardized"), view)
    elif b.tensor.numel() == full.numel():
        constant = whole(low.members.tensor(ordered, b.name, operand.extents))
    else:
        return None
    return low.elementwise(a, function, constant)


def follows_subtraction(low, operand):
    """Whether the last step has subtracted a row from all rows, and only the current step reads the result."""
    last = low.program.steps[-1] if low.program.steps else None
    return (last is not None and last.text[0] == "tinyattn::subtract(" and last.writes is operand.object
            and isinstance(last.text[3], Operand) and last.text[3].object.place == "member"
            and last.text[3].extents == operand.extents[-1:] and len(low.node.args[0].users) == 1)


def with_value(low, function, a, b):
    """Returns the Value of a function of two of one layout, or of one and a row, or None."""
    if a.shape == b.shape:
        if same_layout(a, b):
            (left, view), (right, _) = low.elements_of(a), low.elements_of(b)
        else:
            left, right, view = operand_of(a), operand_of(b), numbered(a.shape)
            if left is None or right is None or left.extents != right.extents:
                return None
        return Value(low.call(function, left, right, extents=left.extents, in_place=[left, right]), view)
    operand = operand_of(a)
    if operand and b.object.extents == a.shape[-1:] and b.is_whole() and b.shape[-1:] == a.shape[-1:]:
        if operand.extents[-1] != a.shape[-1]:
            operand = operand.with_columns(a.shape[-1])
        result = low.elementwise(a, function, whole(b.object), operand=operand)
        return Value(result.object, numbered(a.shape))
    return None


def same_layout(a, b):
    return a.is_whole() and b.is_whole() and a.object.extents == b.object.extents and all(
        extent == 1 or left == right for extent, left, right in zip(a.shape, a.view.stride(), b.view.stride()))


@lowers("add", "mul", "sub", "rsub")
def linear(low, input, other, alpha=1):
    name = low.called
    if name == "rsub":
        name, input, other = "sub", other, input
    if alpha != 1:
        other = arithmetic(low, "multiply", other, alpha) if isinstance(other, Value) else Constant(
            torch.as_tensor(other.tensor if isinstance(other, Constant) else other) * alpha, "other")
    return arithmetic(low, NAMES[name], input, other)


@lowers("neg", "negative")
def negative(low, input):
    return low.elementwise(input, "multiply", "-1.0f")


@lowers("truediv")
def divide(low, input, other, rounding_mode=None):
    number = number_of(other) if not isinstance(other, Value) else None
    if number and rounding_mode is None:
        return arithmetic(low, "multiply", input, 1 / number)
    if number is None and isinstance(other, Constant) and isinstance(input, Value) and (
            torch.isfinite(1 / other.tensor.double()).all() and rounding_mode is None):
        inverted = Constant((1 / other.tensor.double()).float(), inverse(other.name))
        return arithmetic(low, "multiply", input, inverted)
    result = arithmetic(low, "divide", input, other)
    return result if rounding_mode is None else mapped(low, rounding_mode, result)


def inverse(name):
    *outer, last = name.split(".")
    return ".".join([*outer, f"inverse_{last}"])


@lowers("square")
def square(low, input):
    return arithmetic(low, "multiply", input, input)


@lowers("pow", "float_power")
def power(low, input, exponent):
    number = number_of(exponent) if not isinstance(exponent, Value) else None
    functions = {2: square, 3: lambda low, x: arithmetic(low, "multiply", square(low, x), x),
                 4: lambda low, x: square(low, square(low, x)), 0.5: lambda low, x: mapped(low, "sqrt", x),
                 -0.5: lambda low, x: mapped(low, "rsqrt", x),
                 -1: lambda low, x: mapped(low, "reciprocal", x), 1: lambda low, x: x}
    if isinstance(input, Value) and number in functions:
        return functions[number](low, input)
    return mapped(low, "power", input, exponent)
