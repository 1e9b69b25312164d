# SPDX-License-Identifier: MIT
"""Sums, differences, products and quotients: of two results of steps, or of one and a constant."""
import math

import torch

from .layout import literal
from .table import lowers
from .values import Constant, Operand, Value, numbered, operand_of, whole


LARGEST = torch.finfo(torch.float32).max


def scalar(argument):
    """Returns a number, or None: Python's, or a constant of one element."""
    if isinstance(argument, (int, float)):
        return float(argument)
    if isinstance(argument, Constant) and argument.tensor.numel() == 1 and argument.tensor.dtype.is_floating_point:
        return argument.tensor.item()
    return None


def arithmetic(low, function, a, b):
    """Computes a function of two arguments, of which the second may be a constant, a row or a number."""
    number = scalar(b)
    if number is not None:
        if abs(number) > LARGEST or math.isnan(number):
            low.refuse(f"{function} with {number}", "take a finite number")
        return low.elementwise(a, function, literal(number))
    if isinstance(b, Constant):
        return with_constant(low, function, a, b)
    return with_value(low, function, a, b)


def with_constant(low, function, a, b):
    operand, view = low.elements_of(a)
    if not torch.isfinite(b.tensor.float()).all():
        low.refuse(f"{function} with a constant that holds infinity",
                   "give masks as attn_mask, or to masked_fill before softmax")
    try:
        full = b.tensor.float().expand(torch.broadcast_shapes(a.shape, b.shape))
    except RuntimeError:
        full = None
    if full is None or tuple(full.shape) != a.shape:
        low.refuse(f"{function} would make the result larger than its first argument",
                   "expand the first argument first")
    ordered = full.permute(Value(operand.object, view).order()).reshape(operand.extents)
    row = ordered.reshape(-1, operand.extents[-1])
    if len(operand.extents) > 1 and torch.equal(row, row[:1].expand_as(row)):
        constant = whole(low.members.tensor(row[0], b.name))
        if function == "multiply" and follows_subtraction(low, operand):
            (_, x, _, mean, *_) = low.program.steps.pop().text
            return Value(low.call("standardize", x, mean, constant, extents=operand.extents, in_place=[x],
                                  name="standardized"), view)
    else:
        constant = whole(low.members.tensor(ordered, b.name, operand.extents))
    return low.elementwise(a, function, constant)


def follows_subtraction(low, operand):
    """Whether the last step has subtracted a row from all rows, and only the current step reads the result."""
    last = low.program.steps[-1] if low.program.steps else None
    return (last is not None and last.text[0] == "tinyattn::subtract(" and last.writes is operand.object
            and isinstance(last.text[3], Operand) and last.text[3].object.place == "member"
            and last.text[3].extents == operand.extents[-1:] and len(low.node.args[0].users) == 1)


def with_value(low, function, a, b):
    low.check_floats(b)
    if a.shape == b.shape:
        if same_layout(a, b):
            (left, view), (right, _) = low.elements_of(a), low.elements_of(b)
        else:
            left, right = low.rows_of(a), low.rows_of(b)
            if left.extents != right.extents:
                left, right = (low.rows_of(low.copied(value)) for value in (a, b))
            view = numbered(a.shape)
        return Value(low.call(function, left, right, extents=left.extents, in_place=[left, right]), view)
    if len(b.shape) and b.view.numel() == a.shape[-1] == b.shape[-1] and a.view.numel() >= b.view.numel():
        row = b if b.object.extents == (a.shape[-1],) and b.is_whole() else low.copied(b)
        if a.is_whole() and not is_last(a):
            a = low.copied(a)
        operand = low.rows_of(a)
        if operand.extents[-1] != a.shape[-1]:
            operand = operand.with_columns(a.shape[-1])
        result = low.elementwise(a, function, whole(row.object), operand=operand)
        return Value(result.object, numbered(a.shape))
    if b.view.numel() == 1:
        low.refuse(f"{function} by one number that depends on the input", "compute it after forward, or as a row")
    one_for_each = b.shape and b.shape[-1] == 1
    return low.refuse(
        f"{function} of {list(a.shape)} and {list(b.shape)}", "the mean and deviation of each row are those of "
        "LayerNorm(n, elementwise_affine=False), and a sum with weights is weights.transpose(1, 2) @ x" if one_for_each
        else "both have one shape, or the second is a row for all tokens")


def is_last(value):
    """Whether the last axis of the tensor is the last in memory."""
    return operand_of(value) is not None


def same_layout(a, b):
    return a.is_whole() and b.is_whole() and a.object.extents == b.object.extents and all(
        extent == 1 or left == right for extent, left, right in zip(a.shape, a.view.stride(), b.view.stride()))


@lowers("add", "mul")
def commutative(low, input, other, alpha=1):
    if alpha != 1:
        low.refuse("add with alpha", "multiply before")
    if not isinstance(input, Value) or isinstance(other, Value) and other.view.numel() > input.view.numel():
        input, other = other, input
    return arithmetic(low, {"add": "add", "mul": "multiply"}[low.called], input, other)


@lowers("sub")
def subtract(low, input, other, alpha=1):
    if alpha != 1:
        low.refuse("sub with alpha", "multiply before")
    if isinstance(input, Value):
        return arithmetic(low, "subtract", input, other)
    return arithmetic(low, "add", negative(low, other), input)


@lowers("rsub")
def reversed_subtract(low, input, other):
    return arithmetic(low, "add", negative(low, input), other)


@lowers("neg", "negative")
def negative(low, input):
    return low.elementwise(input, "multiply", "-1.0f")


@lowers("truediv")
def divide(low, input, other):
    number = scalar(other)
    if not isinstance(input, Value) or isinstance(other, Value):
        low.refuse("a division by what depends on the input", "divide by a number or a constant")
    if number is not None:
        return arithmetic(low, "multiply", input, 1 / number if number else math.inf)
    return with_constant(low, "multiply", input, Constant((1 / other.tensor.double()).float(), inverse(other.name)))


def inverse(name):
    *outer, last = name.split(".")
    return ".".join([*outer, f"inverse_{last}"])


@lowers("square")
def square(low, input):
    return arithmetic(low, "multiply", input, input)


@lowers("pow")
def power(low, input, exponent):
    if exponent != 2:
        low.refuse(f"a power of {exponent}", "only squares are computed, as x * x")
    return square(low, input)
